// What is charted over the mission's time, of one run in detail or of several side by side.

import { colour, dash } from './dom';
import { Mission, siteName } from './mission';

export interface Series {
  label: string;
  values: (number | null)[];
  colour: string;
  dash: number[];
  width: number;
}
export interface Bar {
  row: number;
  from: number; // s
  to: number;
  colour: string;
  text: string;
}
export interface Chart {
  id: string;
  title: string;
  unit: string; // of the y axis, with what it is
  x: number[]; // s
  series: Series[];
  log: boolean;
  levels: { value: number; text: string }[]; // horizontal lines
  rows?: string[]; // instead of series: bars in rows
  bars?: Bar[];
  key?: { text: string; colour: string }[]; // of the bars
  note?: string;
}

const manyLines = 12;

function line(label: string, values: number[], index: number, width = 1.5): Series {
  return {
    label,
    values: values.map((v) => (Number.isFinite(v) ? v : null)),
    colour: colour(index),
    dash: dash(index),
    width,
  };
}

function chart(id: string, title: string, unit: string, x: number[], series: Series[], more: Partial<Chart> = {}): Chart {
  return { id, title, unit, x, series, log: false, levels: [], ...more };
}

// Times between which accuracies jump: the start, just before and at the hand-over, and the end of a sequence.
function jumps(mission: Mission): { x: number[]; at: (values: (cluster: number, when: 'before' | 'after', s: number) => number, cluster: number) => number[] } {
  const x: number[] = [];
  const handed: number[] = [];
  for (let s = 0; s < mission.num; ++s) {
    const times = mission.handedOver.map((h) => h[s]).filter((t) => Number.isFinite(t));
    const when = Math.min(mission.ends[s], ...times);
    handed.push(when);
    x.push(mission.start[s], when, when, mission.ends[s]);
  }
  return {
    x,
    at: (value, cluster) => {
      const list: number[] = [];
      for (let s = 0; s < mission.num; ++s) {
        const [before, after] = [value(cluster, 'before', s), value(cluster, 'after', s)];
        const early = mission.handedOver[cluster][s] <= handed[s];
        list.push(before, before, early ? after : before, after);
      }
      return list;
    },
  };
}

const least = (values: number[]) => Math.min(...values.filter(Number.isFinite));
const greatest = (values: number[]) => Math.max(...values.filter(Number.isFinite));
function columns(lists: number[][], pick: (values: number[]) => number): number[] {
  return (lists[0] ?? []).map((_, i) => pick(lists.map((list) => list[i])));
}
const mean = (values: number[]) => {
  const known = values.filter(Number.isFinite);
  return known.length > 0 ? known.reduce((a, b) => a + b, 0) / known.length : NaN;
};

function perCluster(mission: Mission, lists: number[][], worst: 'least' | 'most', selected: number | null): Series[] {
  const all = [line('mean', columns(lists, mean), 7, 3)];
  if (lists.length <= manyLines) {
    lists.forEach((list, c) => all.push(line(mission.world.clusters[c].name, list, c < 7 ? c : c + 1, selected === c ? 3 : 1.4)));
  } else {
    all.push(line(worst === 'least' ? 'worst' : 'most', columns(lists, worst === 'least' ? least : greatest), 1));
    all.push(line(worst === 'least' ? 'best' : 'least', columns(lists, worst === 'least' ? greatest : least), 0));
    if (selected !== null) all.push(line(mission.world.clusters[selected].name, lists[selected], 2, 3));
  }
  return all;
}


export function chartsOf(mission: Mission, selected: { swarm: number | null; cluster: number | null }): Chart[] {
  const { x, at } = jumps(mission);
  const accuracies = mission.world.clusters.map((_, c) =>
    at((cluster, when, s) => (when === 'before' ? mission.accuracyBefore : mission.accuracyAfter)[cluster][s], c),
  );
  const atEnds = mission.num > 0 ? [0, ...mission.ends] : [];
  const ages = mission.world.clusters.map((_, c) => [1, ...mission.age[c]]);
  const world = mission.world;
  const full = (ids: number[]) => Math.min(...ids.map((id) => world.uavs[id].battery));
  const swarm = selected.swarm;
  const batteries =
    swarm !== null
      ? world.swarms[swarm].uavs.map((id, i) =>
          line(`${world.uavs[id].role} ${id + 1}`, [world.uavs[id].battery, ...mission.battery[id]].map((j) => j / 1e3), i))
      : world.swarms.length <= manyLines
        ? world.swarms.map((s, u) => line(`swarm ${u + 1}`, [full(s.uavs), ...mission.legs[u].map((leg) => leg.leastBattery)].map((j) => j / 1e3), u))
        : leastBatteries(mission);
  const shown = swarm !== null ? world.swarms[swarm].uavs : world.uavs.map((_, id) => id);
  const thresholds = [...new Set(shown.map((id) => world.uavs[id].threshold / 1e3))].sort((a, b) => a - b);
  const rows = [...world.clusters.map((_, i) => siteName(world, i)), ...world.stations.map((s) => s.name)];
  const bars: Bar[] = [];
  mission.legs.forEach((legs, u) =>
    legs.filter((leg) => leg.arrival < leg.end).forEach((leg) =>
      bars.push({
        row: leg.to,
        from: leg.arrival,
        to: leg.end,
        colour: colour(u),
        text: `swarm ${u + 1} at ${siteName(world, leg.to)}: ${leg.does === 'nothing' ? 'no more' : `${leg.does}s`}`,
      }),
    ),
  );
  return [
    chart('accuracy', 'Accuracy of clusters’ models', 'accuracy, %', x, perCluster(mission, accuracies, 'least', selected.cluster)),
    chart('gradient', 'Gradient of the global model', 'squared meta-gradient norm', atEnds.slice(1), [
      line('measured', mission.gradient, 0, 2.5),
    ], { log: true }),
    chart('energy', 'Energy spent so far', 'energy, kJ', atEnds.slice(1),
      mission.energyByKind.filter(({ joules }) => joules.some((j) => j > 0))
        .map(({ kind, joules }, i) => line(kind, joules.map((j) => (j > 0 ? j / 1e3 : NaN)), i, 1.8)),
      { log: true }),
    chart('batteries', swarm !== null ? `Batteries of swarm ${swarm + 1}` : 'Batteries, the least of each swarm', 'energy, kJ', atEnds, batteries, {
      levels: (thresholds.length > 3 ? [thresholds[0], thresholds[thresholds.length - 1]] : thresholds).map((value) => ({ value, text: 'threshold' })),
      note: swarm === null ? 'Select a swarm to see each of its UAVs.' : undefined,
    }),
    chart('age', 'Age of clusters’ models', 'age, sequences', atEnds, perCluster(mission, ages, 'most', selected.cluster)),
    chart('visits', 'Visits: who is where', 'site', atEnds, [], {
      rows, bars,
      key: mission.legs.slice(0, 8).map((_, u) => ({ text: `swarm ${u + 1}`, colour: colour(u) })),
      note: mission.legs.length > 8 ? 'Colours are used again for later swarms.' : undefined,
    }),
    chart('drift', 'Drift of clusters, as measured', 'squared norm per sequence', atEnds.slice(1),
      perCluster(mission, mission.drift.map((d) => d.map((v) => (v > 0 ? v : NaN))), 'most', selected.cluster).slice(world.clusters.length <= manyLines ? 1 : 0),
      { log: true, note: 'Known from a cluster’s second visit on.' }),
    chart('traffic', 'Sent in each sequence', 'Mbit', atEnds.slice(1), [line('data', mission.dataMbit, 0, 2), line('models', mission.modelMbit, 1, 2)], { log: true }),
    chart('reward', 'Reward of each sequence', 'reward', atEnds.slice(1), [line('reward', mission.reward, 4, 2)]),
  ];
}

function leastBatteries(mission: Mission): Series[] {
  const lists = mission.legs.map((legs, u) => [
    Math.min(...mission.world.swarms[u].uavs.map((id) => mission.world.uavs[id].battery)),
    ...legs.map((leg) => leg.leastBattery),
  ].map((j) => j / 1e3));
  return [
    line('mean of swarms', columns(lists, mean), 7, 3),
    line('least', columns(lists, least), 1),
    line('most', columns(lists, greatest), 0),
  ];
}

// Runs have times of their own; all are put on one axis, each with gaps where only others have points.
export function comparedCharts(missions: Mission[]): Chart[] {
  const overlay = (
    id: string, title: string, unit: string,
    of: (m: Mission) => { x: number[]; values: number[] }, more: Partial<Chart> = {},
  ): Chart => {
    const each = missions.map(of);
    const x = [...new Set(each.flatMap((e) => e.x))].sort((a, b) => a - b);
    const series = each.map((e, i) => {
      const known = new Map(e.x.map((t, k) => [t, e.values[k]]));
      return line(missions[i].name, x.map((t) => between(e.x, e.values, known, t)), i, 2.2);
    });
    return chart(id, title, unit, x, series, more);
  };
  const atEnds = (m: Mission) => m.ends;
  const total = (m: Mission) => m.ends.map((_, s) => m.energyByKind.reduce((sum, e) => sum + e.joules[s], 0) / 1e3);
  const visits = (m: Mission) => {
    let sum = 0;
    return m.ends.map((_, s) => (sum += m.handedOver.filter((h) => Number.isFinite(h[s])).length));
  };
  return [
    overlay('accuracy', 'Mean accuracy of clusters’ models', 'accuracy, %', (m) => ({ x: atEnds(m), values: m.meanAccuracy })),
    overlay('worst', 'Accuracy of the worst cluster', 'accuracy, %', (m) => ({ x: atEnds(m), values: m.worstAccuracy })),
    overlay('gradient', 'Gradient', 'squared meta-gradient norm', (m) => ({ x: atEnds(m), values: m.gradient.map((g) => (g > 0 ? g : NaN)) }), { log: true }),
    overlay('energy', 'Energy spent so far', 'energy, kJ', (m) => ({ x: atEnds(m), values: total(m) })),
    overlay('batteries', 'Least battery of all', 'energy, kJ', (m) => ({
      x: atEnds(m),
      values: m.ends.map((_, s) => least(m.legs.map((legs) => legs[s].leastBattery)) / 1e3),
    })),
    overlay('age', 'Mean age of clusters’ models', 'age, sequences', (m) => ({ x: atEnds(m), values: m.meanAge })),
    overlay('visits', 'Visits to clusters so far', 'visits', (m) => ({ x: atEnds(m), values: visits(m) })),
    overlay('traffic', 'Data and models sent in each sequence', 'Mbit', (m) => ({ x: atEnds(m), values: m.dataMbit.map((d, s) => d + m.modelMbit[s]) })),
    overlay('reward', 'Reward of each sequence', 'reward', (m) => ({ x: atEnds(m), values: m.reward })),
  ];
}

function between(x: number[], values: number[], known: Map<number, number>, time: number): number {
  const exact = known.get(time);
  if (exact !== undefined) return exact;
  if (x.length === 0 || time < x[0] || time > x[x.length - 1]) return NaN;
  let i = 0;
  while (x[i + 1] < time) ++i;
  return values[i] + ((values[i + 1] - values[i]) * (time - x[i])) / (x[i + 1] - x[i]);
}

export function csvOf(chart: Chart): string {
  const quoted = (text: string) => (/[",\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text);
  if (chart.bars && chart.rows) {
    const rows = chart.rows;
    return `site,from_s,to_s,what\n${chart.bars.map((b) => `${rows[b.row]},${b.from},${b.to},${quoted(b.text)}`).join('\n')}\n`;
  }
  const header = ['time_s', ...chart.series.map((s) => quoted(`${s.label} (${chart.unit})`))].join(',');
  const lines = chart.x.map((t, i) => [t, ...chart.series.map((s) => s.values[i] ?? '')].join(','));
  return `${header}\n${lines.join('\n')}\n`;
}
