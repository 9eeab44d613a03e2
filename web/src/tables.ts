// Tables: headline figures of one run or several, the planner's alternatives, events.

import { clock, colour, dot, h, number } from './dom';
import { scenarioKeys, shortened } from './files';
import { Event, Mission, siteName } from './mission';
import { laneOf } from './timeline';

interface Figure {
  key: string;
  text: string;
  unit: string;
  scale: number;
  better: 1 | -1 | 0; // more, less, neither
}

const figures: Figure[] = [
  { key: 'mean_accuracy_percent', text: 'Accuracy of clusters’ models, mean over time', unit: '%', scale: 1, better: 1 },
  { key: 'worst_cluster_accuracy_percent', text: 'of the worst cluster', unit: '%', scale: 1, better: 1 },
  { key: 'last_accuracy_percent', text: 'at the end', unit: '%', scale: 1, better: 1 },
  { key: 'mean_age_sequences', text: 'Age of models, mean', unit: 'sequences', scale: 1, better: -1 },
  { key: 'mean_reward', text: 'Reward of a sequence, mean', unit: '', scale: 1, better: 1 },
  { key: 'energy_J', text: 'Energy', unit: 'kJ', scale: 1e-3, better: -1 },
  { key: 'hovering_training_J', text: 'Hovering while training and handing over', unit: 'kJ', scale: 1e-3, better: -1 },
  { key: 'hovering_leader_away_J', text: 'Hovering while the leader was away', unit: 'kJ', scale: 1e-3, better: -1 },
  { key: 'hovering_waiting_J', text: 'Hovering while waiting for other swarms', unit: 'kJ', scale: 1e-3, better: -1 },
  { key: 'recharged_J', text: 'Recharged', unit: 'kJ', scale: 1e-3, better: 0 },
  { key: 'visits', text: 'Visits to clusters', unit: '', scale: 1, better: 1 },
  { key: 'recharges', text: 'Visits to stations', unit: '', scale: 1, better: 0 },
  { key: 'distance_m', text: 'Flown by swarms', unit: 'km', scale: 1e-3, better: 0 },
  { key: 'data_Mbit', text: 'Data sent', unit: 'Mbit', scale: 1, better: 0 },
  { key: 'model_Mbit', text: 'Models sent', unit: 'Mbit', scale: 1, better: 0 },
  { key: 'duration_s', text: 'Simulated time', unit: 'min', scale: 1 / 60, better: 0 },
  { key: 'sequences', text: 'Training sequences', unit: '', scale: 1, better: 0 },
  { key: 'swarms_below_threshold', text: 'Swarms below their threshold', unit: '', scale: 1, better: -1 },
  { key: 'shortfall_J', text: 'Energy that batteries lacked', unit: 'kJ', scale: 1e-3, better: -1 },
  { key: 'messages', text: 'Messages of the protocol', unit: '', scale: 1, better: 0 },
  { key: 'refused_messages', text: 'Messages refused', unit: '', scale: 1, better: 0 },
  { key: 'faults', text: 'Faults noted', unit: '', scale: 1, better: 0 },
  { key: 'rejected_updates', text: 'Damaged models rejected', unit: '', scale: 1, better: 0 },
  { key: 'updates_without_access_point', text: 'Models that found no access point', unit: '', scale: 1, better: 0 },
];

export interface Row {
  text: string;
  unit: string;
  values: number[];
  better: 1 | -1 | 0;
}

// Figures of the summary, known and unknown; of a running mission what is known so far.
export function headline(missions: Mission[]): Row[] {
  const summaries = missions.map((m) => m.summary ?? soFar(m));
  const rows: Row[] = figures
    .filter((f) => summaries.some((s) => typeof s[f.key] === 'number'))
    .map((f) => ({
      text: f.text, unit: f.unit, better: f.better,
      values: summaries.map((s) => (typeof s[f.key] === 'number' ? (s[f.key] as number) * f.scale : NaN)),
    }));
  const known = new Set([...figures.map((f) => f.key), 'seed']);
  const others = new Set(summaries.flatMap((s) => Object.keys(s).filter((k) => !known.has(k) && typeof s[k] === 'number')));
  for (const key of others) {
    rows.push({
      text: key.replace(/_(J|s|m|percent|Mbit)$/, '').replace(/_/g, ' '), unit: /_(J|s|m|percent|Mbit)$/.exec(key)?.[1] ?? '', better: 0,
      values: summaries.map((s) => (typeof s[key] === 'number' ? (s[key] as number) : NaN)),
    });
  }
  return rows;
}

function soFar(m: Mission): Record<string, unknown> {
  if (m.num === 0) return {};
  let weighted = 0;
  for (let s = 0; s < m.num; ++s) {
    m.accuracyBefore.forEach((before, c) => {
      const until = Number.isFinite(m.handedOver[c][s]) ? m.handedOver[c][s] : m.ends[s];
      weighted += before[s] * (until - m.start[s]) + m.accuracyAfter[c][s] * (m.ends[s] - until);
    });
  }
  const mean = (v: number[]) => v.reduce((a, b) => a + b, 0) / v.length;
  return {
    mean_accuracy_percent: weighted / m.world.clusters.length / Math.max(1e-9, m.end),
    last_accuracy_percent: m.meanAccuracy[m.num - 1],
    mean_age_sequences: mean(m.meanAge),
    mean_reward: mean(m.reward),
    energy_J: m.energyByKind.reduce((sum, e) => sum + e.joules[m.num - 1], 0),
    visits: m.handedOver.flat().filter(Number.isFinite).length,
    recharges: m.legs.flat().filter((leg) => leg.does === 'recharge' && leg.arrival < leg.end).length,
    duration_s: m.end,
    sequences: m.num,
  };
}

export function headlineTable(missions: Mission[]): HTMLElement {
  const many = missions.length > 1;
  const rows = headline(missions);
  const difference = (row: Row, i: number): HTMLElement => {
    const by = row.values[i] - row.values[0];
    const relative = row.values[0] !== 0 ? ` (${by >= 0 ? '+' : ''}${((100 * by) / Math.abs(row.values[0])).toFixed(1)} %)` : '';
    const verdict = row.better === 0 || Math.abs(by) < 1e-9 ? '' : by * row.better > 0 ? 'better' : 'worse';
    return h('td', { class: `number ${verdict}` }, Number.isFinite(by) ? `${by > 0 ? '+' : ''}${number(by, 4)}${relative}${verdict ? ` ${verdict === 'better' ? '▲' : '▼'}` : ''}` : '–');
  };
  return h('table', { class: 'figures' },
    h('thead', {}, h('tr', {}, h('th', {}, 'Figure'),
      ...missions.flatMap((m, i) => [
        h('th', { class: 'number' }, many ? m.name : 'Value'),
        many && i > 0 ? h('th', { class: 'number' }, `${m.name} − ${missions[0].name}`) : null]),
      h('th', {}, 'Unit'))),
    h('tbody', {}, ...rows.map((row) =>
      h('tr', {}, h('td', {}, row.text),
        ...row.values.flatMap((v, i) => [h('td', { class: 'number' }, number(v, 4)), many && i > 0 ? difference(row, i) : null]),
        h('td', {}, row.unit)))));
}

export function headlineCsv(missions: Mission[]): string {
  const quoted = (text: string) => `"${text.replace(/"/g, '""')}"`;
  const lines = headline(missions).map((r) => [quoted(r.text), quoted(r.unit), ...r.values.map((v) => (Number.isFinite(v) ? v : ''))].join(','));
  return `figure,unit,${missions.map((m) => quoted(m.name)).join(',')}\n${lines.join('\n')}\n`;
}

// Keys in which the scenarios differ.
export function scenarioDifferences(missions: Mission[]): HTMLElement {
  const all = missions.map((m) => scenarioKeys(m.scenario));
  const differing = [...new Set(all.flatMap((keys) => [...keys.keys()]))].filter((key) => new Set(all.map((keys) => keys.get(key))).size > 1);
  if (differing.length === 0) return h('p', { class: 'note' }, 'The scenarios are the same.');
  return h('table', { class: 'figures differences' },
    h('thead', {}, h('tr', {}, h('th', {}, 'Key'), ...missions.map((m) => h('th', {}, m.name)))),
    h('tbody', {}, ...differing.map((key) =>
      h('tr', {}, h('td', {}, key), ...all.map((keys) => h('td', {}, shortened(keys.get(key) ?? '–', 80)))))));
}

// What the planner thought its plans are worth, best first; the one it took is marked.
export function alternativesView(mission: Mission, sequence: number): HTMLElement {
  const list = mission.alternatives[sequence] ?? [];
  if (list.length === 0) {
    return h('p', { class: 'note' }, mission.num === 0 ? 'Nothing has been planned yet.' : `The planner ${mission.planner} gives its plans no values.`);
  }
  const taken = mission.legs.map((legs) => siteName(mission.world, legs[sequence].to)).join();
  const least = Math.min(0, ...list.map((a) => a.value));
  const most = Math.max(...list.map((a) => a.value), least + 1e-9);
  const farthest = Math.max(...list.map((a) => a.sequences));
  const few = mission.legs.length <= 8;
  return h('div', { class: 'alternatives', role: 'table', 'aria-label': 'Plans that were weighed' },
    ...list.map((a) => {
      const chosen = a.destinations.join() === taken;
      const bar = h('span', { class: `bar${a.sequences < farthest ? ' dropped' : ''}${chosen ? ' chosen' : ''}` });
      bar.style.width = `${(100 * (a.value - least)) / (most - least)}%`;
      const places = h('span', { class: 'places' }, ...a.destinations.slice(0, few ? 8 : 6).flatMap((name, u) => {
        const chip = h('span', { class: 'chip' }, `${u + 1}→${name}`);
        chip.style.borderColor = colour(u);
        return [chip, ' '];
      }), few ? null : `… ${a.destinations.length} swarms`);
      return h('div', { class: `alternative${chosen ? ' chosen' : ''}`, role: 'row' }, places,
        h('span', { class: 'track' }, bar),
        h('span', { class: 'value number' }, number(a.value, 4)),
        h('span', { class: 'ahead' }, chosen ? '✓ taken' : a.sequences < farthest ? `dropped at ${a.sequences}` : ''));
    }),
    h('p', { class: 'note' }, `Sum of rewards that the planner expects of the best way on from each plan${farthest > 1 ? `, ${farthest} sequences ahead; pale ones were not followed so far` : ''}.`));
}

const shownEvents = 60;

export function eventRows(mission: Mission, time: number, all: boolean, seek: (time: number) => void): HTMLElement[] {
  const listed = all ? mission.events : mission.events.filter((e) => laneOf(e.kind).lane >= 0);
  let at = listed.findIndex((e) => e.time > time);
  if (at < 0) at = listed.length;
  const from = Math.max(0, Math.min(at - shownEvents / 2, listed.length - shownEvents));
  const row = (event: Event) => {
    const kind = laneOf(event.kind);
    return h('tr', { class: event.time <= time ? 'past' : '', tabindex: 0, click: () => seek(event.time),
      keydown: ((e: KeyboardEvent) => e.key === 'Enter' && seek(event.time)) as (event: never) => void },
      h('td', { class: 'number' }, clock(event.time)), h('td', {}, dot(colour(kind.tone)), event.swarm !== null ? `swarm ${event.swarm + 1} ` : '', event.kind), h('td', {}, event.text));
  };
  return listed.slice(from, from + shownEvents).map(row);
}
