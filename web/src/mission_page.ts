// The page of one mission, or of several that are compared: map, timeline, charts, decisions, tables.

import { ChartView } from './chart_view';
import { Chart, chartsOf, comparedCharts } from './charts';
import { colour, dot, download, downloadSvgAsPng, fileName, h, icon, number, replace, scaleColour, themeColour } from './dom';
import { flowPicture, flowWidth } from './flow';
import { Colouring, MissionMap, Selection } from './map';
import { accuracyAt, activity, ageAt, batteryAt, driftAt, Mission, roundAt, sequenceAt, siteName } from './mission';
import { alternativesView, eventRows, headlineCsv, headlineTable, scenarioDifferences } from './tables';
import { isTrouble, kindsOf, Timeline } from './timeline';

// What tests and the curious can read: how much work frames are.
export const frames = { count: 0, scriptMs: 0 };

export class MissionPage {
  readonly element = h('main');
  private readonly map = new MissionMap();
  readonly timeline = new Timeline();
  private missions: Mission[] = [];
  private shown = 0;
  private charts = new Map<string, ChartView>();
  private dirty = true;
  private swarm = 0; // whose decision is shown
  private chosen = false; // by somebody; else one that trains is shown
  private lastFlow = '';
  private lastPlan = '';
  private lastEvents = '';
  private stopped = false;

  private readonly legend = h('div', { class: 'legend', 'aria-hidden': 'true' });
  private readonly now = h('dl', { class: 'now-figures' });
  private readonly runChoice = h('select', { 'aria-label': 'Run shown on the map' }) as HTMLSelectElement;
  private readonly swarmChoice = h('select', { 'aria-label': 'Swarm whose decision is shown' }) as HTMLSelectElement;
  private readonly flow = h('div', { class: 'flow-box' });
  private readonly flowText = h('p', { class: 'note' });
  private readonly plan = h('div');
  private readonly planTitle = h('h3');
  private readonly eventBody = h('tbody');
  private readonly eventKey = h('span', { class: 'legend' });
  private readonly allEvents = h('input', { type: 'checkbox', id: 'all-events' }) as HTMLInputElement;
  private readonly grid = h('div', { class: 'charts' });
  private readonly figures = h('div');
  private readonly differences = h('div');
  private readonly scenarioTitle = h('h3');
  private readonly scenario = h('pre', { class: 'scenario', tabindex: 0 });
  private readonly warnings = h('div', { class: 'warnings', role: 'status' });

  constructor() {
    this.map.onSelect = (selection) => this.select(selection);
    this.map.onMove = () => (this.dirty = true);
    this.map.describe = (selection) => this.describe(selection);
    this.timeline.onTime = () => (this.dirty = true);
    this.runChoice.addEventListener('change', () => {
      this.shown = Number(this.runChoice.value);
      this.refresh(true);
    });
    this.swarmChoice.addEventListener('change', () => this.select({ swarm: Number(this.swarmChoice.value) }));
    this.allEvents.addEventListener('change', () => {
      this.lastEvents = '';
      this.dirty = true;
    });
    this.build();
    const frame = (now: number) => {
      if (this.stopped) return;
      const start = performance.now();
      this.timeline.tick(now);
      if (this.dirty) {
        this.dirty = false;
        this.draw();
        frames.count += 1;
        frames.scriptMs += performance.now() - start;
      }
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }

  close(): void {
    this.stopped = true;
  }

  // That is selected.
  private get cluster(): number | null {
    const { selection } = this.map;
    return selection && 'cluster' in selection ? selection.cluster : null;
  }

  private get mission(): Mission {
    return this.missions[this.shown];
  }

  private build(): void {
    const colourings: [Colouring, string][] = [['accuracy', 'Accuracy'], ['drift', 'Drift'], ['age', 'Age']];
    const buttons = colourings.map(([key, text]) =>
      h('button', { 'data-colour': key, 'aria-pressed': String(key === 'accuracy'), title: `Colour clusters by ${key} (c)`, click: () => this.setColouring(key) }, text));
    const tool = (text: string | Node, label: string, work: () => void) => h('button', { class: 'small', title: label, 'aria-label': label, click: work }, text);
    const step = (by: number) => this.stepRound(by);
    const download_ = { flow: (kind: 'svg' | 'png') => this.saveFlow(kind) };
    this.element.append(
      this.warnings,
      h('div', { class: 'stage' },
        h('section', { class: 'card map-card' },
          h('header', {}, h('span', { class: 'segments', role: 'group', 'aria-label': 'Colour of clusters' }, ...buttons), this.runChoice, this.legend,
            h('span', { class: 'tools' },
              tool('+', 'Zoom in (+)', () => this.map.zoom(1.4)), tool('−', 'Zoom out (-)', () => this.map.zoom(1 / 1.4)),
              tool(icon('whole'), 'Whole map (0)', () => this.map.reset()),
              tool('PNG', 'Download the map as PNG', () => this.map.picture().toBlob((blob) => blob && download(`${fileName(this.mission.name, 'map')}.png`, blob))))),
          this.map.element,
          h('p', { class: 'note key' }, '◆ leader  ● worker  ▲ coordinator  ▪ device  R: recharging station  A: access point · dots on links are data on its way, drawn for the whole global round · dashed: the leader’s trip towards its access point')),
        h('div', { class: 'side' },
          h('section', { class: 'card' }, this.now),
          h('section', { class: 'card', 'data-panel': 'decision' },
            h('header', {}, h('h3', {}, 'Offloading decision'), this.swarmChoice,
              h('span', { class: 'tools' },
                tool('‹', 'Global round before (,)', () => step(-1)), tool('›', 'Next global round (.)', () => step(1)),
                tool('SVG', 'Download the decision as SVG', () => download_.flow('svg')), tool('PNG', 'Download the decision as PNG', () => download_.flow('png')))),
            this.flowText, this.flow))),
      this.grid,
      h('div', { class: 'pair' },
        h('section', { class: 'card', 'data-panel': 'plan' }, h('header', {}, this.planTitle), this.plan),
        h('section', { class: 'card', 'data-panel': 'events' },
          h('header', {}, h('h3', {}, 'Events'), this.eventKey, h('span', { class: 'tools' }, this.allEvents, h('label', { for: 'all-events' }, 'flights and measurements too'))),
          h('div', { class: 'scroll' }, h('table', { class: 'events' }, this.eventBody)))),
      h('div', { class: 'pair' },
        h('section', { class: 'card', 'data-panel': 'figures' },
          h('header', {}, h('h3', {}, 'Headline figures'), h('span', { class: 'tools' },
            tool('CSV', 'Download the figures as CSV', () => download(`${fileName(this.prefix(), 'figures')}.csv`, headlineCsv(this.missions), 'text/csv')))),
          h('div', { class: 'scroll-x' }, this.figures)),
        h('section', { class: 'card' },
          h('header', {}, this.scenarioTitle, h('span', { class: 'tools' },
            tool('TOML', 'Download the scenario', () => download(`${fileName(this.mission.name)}.toml`, this.mission.scenario)))),
          h('div', { class: 'scroll-x' }, this.differences), this.scenario)));
    this.retheme();
  }

  private prefix(): string {
    return this.missions.length > 1 ? 'comparison' : this.mission.name;
  }

  show(missions: Mission[], fresh: boolean): void {
    this.missions = missions;
    if (fresh) this.shown = 0;
    this.refresh(fresh);
  }

  private refresh(fresh: boolean): void {
    const mission = this.mission;
    this.swarm = Math.min(this.swarm, mission.world.swarms.length - 1);
    this.runChoice.hidden = this.missions.length < 2;
    this.element.classList.toggle('compared', this.missions.length > 1);
    this.element.classList.toggle('waiting', this.missions.every((m) => m.num === 0));
    replace(this.runChoice, ...this.missions.map((m, i) => h('option', { value: i, selected: i === this.shown }, m.name)));
    replace(this.swarmChoice, ...mission.world.swarms.map((_, u) => h('option', { value: u, selected: u === this.swarm }, `swarm ${u + 1}`)));
    const notes = this.missions.flatMap((m) => [...new Set(m.warnings)].slice(0, 5).map((w) => h('p', {}, `${m.name}: ${w}`)));
    if (mission.num === 0) notes.push(h('p', {}, `${mission.name}: no training sequence has ended yet.`));
    replace(this.warnings, ...notes);
    this.map.show(mission);
    this.scenario.textContent = mission.scenario;
    this.scenarioTitle.textContent = this.missions.length > 1
      ? `Where the scenarios differ, and that of ${mission.name}` : 'Scenario, with every default written out';
    replace(this.differences, this.missions.length > 1 ? scenarioDifferences(this.missions) : null);
    replace(this.figures, headlineTable(this.missions));
    this.lastFlow = this.lastPlan = this.lastEvents = '';
    this.timeline.show(mission, fresh);
    // The map comes first; charts follow when it can be seen.
    if (fresh) requestAnimationFrame(() => setTimeout(() => this.stopped || this.refreshCharts()));
    else this.refreshCharts();
    this.drawLegend();
    this.drawEventKey();
    this.dirty = true;
  }

  // What the marks on the time axis are.
  private drawEventKey(): void {
    replace(this.eventKey, ...kindsOf(this.mission).flatMap(({ tone, text }) => [dot(colour(tone)), text]));
  }

  private longest(): number {
    return Math.max(1e-9, ...this.missions.map((m) => m.end));
  }

  private refreshCharts(): void {
    const selection = this.map.selection;
    const charts: Chart[] = this.missions.length > 1
      ? comparedCharts(this.missions)
      : chartsOf(this.mission, { swarm: selection && 'swarm' in selection ? selection.swarm : null, cluster: this.cluster });
    const marks = this.missions.length > 1 ? [] : this.mission.events.filter(isTrouble).slice(0, 400).map((e) => ({ time: e.time, colour: colour(1) }));
    const wanted = charts.map((c) => c.id).join();
    if (wanted !== [...this.charts.keys()].join()) {
      this.charts = new Map(charts.map((c) => {
        const view = new ChartView(c, () => this.longest(), () => this.prefix());
        view.onSeek = (time) => this.timeline.seek(time);
        return [c.id, view];
      }));
      replace(this.grid, ...[...this.charts.values()].map((v) => v.element));
    }
    for (const chart of charts) this.charts.get(chart.id)!.show(chart, marks);
  }

  retheme(): void {
    this.map.retheme();
    if (this.missions.length > 0) {
      this.refreshCharts();
      this.timeline.redraw();
      this.drawLegend();
      this.drawEventKey();
      this.lastFlow = this.lastPlan = this.lastEvents = '';
    }
    this.dirty = true;
  }

  setColouring(colouring: Colouring): void {
    this.map.colouring = colouring;
    for (const button of this.element.querySelectorAll<HTMLElement>('[data-colour]')) {
      button.setAttribute('aria-pressed', String(button.dataset.colour === colouring));
    }
    this.drawLegend();
    this.dirty = true;
  }

  private drawLegend(): void {
    const { title, low, high, reversed } = this.map.legend();
    const ramp = h('canvas', { width: 90, height: 10 }) as HTMLCanvasElement;
    const c = ramp.getContext('2d')!;
    for (let i = 0; i < 90; ++i) {
      c.fillStyle = scaleColour(reversed ? 1 - i / 89 : i / 89);
      c.fillRect(i, 0, 1, 10);
    }
    replace(this.legend, `${title} ${low}`, ramp, high);
  }

  private select(selection: Selection): void {
    this.map.selection = selection;
    this.chosen = selection !== null;
    if (selection && 'swarm' in selection) {
      this.swarm = selection.swarm;
      this.swarmChoice.value = String(this.swarm);
    } else if (selection) {
      // The swarm that is there, or was last.
      const time = this.timeline.time;
      const sequence = this.mission.num > 0 ? sequenceAt(this.mission, time) : 0;
      const there = this.mission.legs.findIndex((legs) => legs[sequence]?.to === selection.cluster);
      if (there >= 0) {
        this.swarm = there;
        this.swarmChoice.value = String(there);
      }
    }
    this.refreshCharts();
    this.lastFlow = '';
    this.dirty = true;
  }

  private describe(selection: Selection): string {
    const m = this.mission;
    if (!selection || m.num === 0) return '';
    const time = this.timeline.time;
    const s = sequenceAt(m, time);
    if ('cluster' in selection) {
      const c = selection.cluster;
      return `${m.world.clusters[c].name}: accuracy ${accuracyAt(m, c, time, s).toFixed(1)} %, age ${ageAt(m, c, time, s)} sequences, drift ${number(driftAt(m, c, s))}, ${m.world.clusters[c].devices.length} devices`;
    }
    const leg = m.legs[selection.swarm][s];
    const { uavs } = m.world.swarms[selection.swarm];
    const least = Math.min(...uavs.map((id) => batteryAt(m, id, time, s)));
    return `swarm ${selection.swarm + 1} ${activity(m.world, leg, time)}; least battery ${number(least / 1e3)} kJ; ${uavs.length} UAVs`;
  }

  private draw(): void {
    const mission = this.mission;
    if (!mission) return;
    const time = this.timeline.time;
    this.map.draw(time);
    if (frames.count === 0) performance.mark('first-picture');
    for (const view of this.charts.values()) view.setTime(time);
    if (mission.num === 0) return;
    const sequence = sequenceAt(mission, time);
    this.drawNow(mission, time, sequence);
    this.drawDecision(mission, time, sequence);
    const plan = `${this.shown} ${sequence} ${mission.num}`;
    if (plan !== this.lastPlan) {
      this.lastPlan = plan;
      this.planTitle.textContent = `Planner’s value of alternatives, sequence ${sequence + 1}`;
      replace(this.plan, alternativesView(mission, sequence));
    }
    // Links move while a mission plays; a paused one needs no more frames.
    const passed = mission.events.length > 0 ? String(firstAfter(mission, time)) : '';
    if (passed !== this.lastEvents && (!this.timeline.playing || frames.count % 12 === 0)) {
      this.lastEvents = passed;
      replace(this.eventBody, ...eventRows(mission, time, this.allEvents.checked, (t) => this.timeline.seek(t)));
      const past = this.eventBody.querySelectorAll<HTMLElement>('.past');
      this.eventBody.closest('.scroll')!.scrollTop = past.length > 0 ? past[past.length - 1].offsetTop - 150 : 0;
    }
  }

  private drawNow(m: Mission, time: number, s: number): void {
    const accuracies = m.world.clusters.map((_, c) => accuracyAt(m, c, time, s));
    const ages = m.world.clusters.map((_, c) => ageAt(m, c, time, s));
    const mean = (v: number[]) => v.reduce((a, b) => a + b, 0) / v.length;
    let least = Infinity;
    let whose = 0;
    m.world.uavs.forEach((uav, id) => {
      const margin = batteryAt(m, id, time, s) - uav.threshold;
      if (margin < least) [least, whose] = [margin, id];
    });
    const spent = (at: number) => (at < 0 ? 0 : m.energyByKind.reduce((sum, e) => sum + e.joules[at], 0));
    const span = m.ends[s] - m.start[s];
    const share = span > 0 ? Math.min(1, (time - m.start[s]) / span) : 1;
    const energy = spent(s - 1) + (spent(s) - spent(s - 1)) * share;
    const lost = m.legs.filter((legs) => legs[s].does === 'nothing').length;
    const resting = m.legs.filter(({ [s]: leg }) => leg.does === 'rest' || (leg.does !== 'nothing' && time < leg.start)).length;
    const flying = m.legs.filter(({ [s]: leg }) => leg.does !== 'nothing' && time >= leg.start && time < leg.arrival).length;
    const charging = m.legs.filter((legs) => legs[s].does === 'recharge' && time >= legs[s].arrival).length;
    const items: [string, string][] = [
      ['Accuracy, mean', `${mean(accuracies).toFixed(1)} %`],
      ['Accuracy, worst', `${Math.min(...accuracies).toFixed(1)} %`],
      ['Age, mean', `${mean(ages).toFixed(2)} seq`],
      ['Energy so far', `${number(energy / 1e3, 4)} kJ`],
      ['Least battery above its threshold', `${number(least / 1e3)} kJ, ${m.world.uavs[whose].role} ${whose + 1}`],
      ['Swarms', `${flying} fly, ${m.legs.length - flying - charging - resting - lost} train, ${charging} recharge${resting > 0 ? `, ${resting} rest` : ''}${lost > 0 ? `, ${lost} lost` : ''}`],
    ];
    if (this.now.childElementCount !== items.length) {
      replace(this.now, ...items.map(([name]) => h('div', {}, h('dt', {}, name), h('dd', {}))));
    }
    items.forEach(([, value], i) => {
      const cell = this.now.children[i].lastElementChild!;
      if (cell.textContent !== value) cell.textContent = value;
    });
  }

  private drawDecision(m: Mission, time: number, s: number): void {
    if (!this.chosen && !roundAt(m.legs[this.swarm][s], time)) {
      const training = m.legs.findIndex((legs) => roundAt(legs[s], time) !== null);
      if (training >= 0) {
        this.swarm = training;
        this.swarmChoice.value = String(training);
      }
    }
    const leg = m.legs[this.swarm][s];
    const round = roundAt(leg, time);
    const key = `${this.shown} ${this.swarm} ${s} ${round?.index} ${m.num} ${time < leg.arrival}`;
    if (key === this.lastFlow) return;
    this.lastFlow = key;
    if (!round) {
      this.flowText.textContent = `Sequence ${s + 1}: swarm ${this.swarm + 1} ${activity(m.world, leg, time)}.`;
      replace(this.flow, h('p', { class: 'empty' }, 'No decision now. ‹ and › lead to global rounds.'));
      return;
    }
    this.flowText.textContent =
      `Sequence ${s + 1}, global round ${round.index + 1} of ${leg.rounds.length}, above ${siteName(m.world, leg.to)}: first of ${round.localRounds} local rounds; ` +
      `objective ${number(round.objective)}, bound on the gradient ${number(round.gradientBound)}, certificate’s residual ${number(round.kktResidual, 2)}; ` +
      `trains ${number(round.training)} s, leader’s trip ${number(round.trip)} s.`;
    replace(this.flow, flowPicture(m, this.swarm, leg, round));
  }

  private saveFlow(kind: 'svg' | 'png'): void {
    const picture = this.flow.querySelector('svg');
    if (!picture) return;
    const copy = picture.cloneNode(true) as SVGElement;
    const height = Number(copy.getAttribute('viewBox')!.split(' ')[3]);
    copy.setAttribute('width', String(flowWidth));
    copy.setAttribute('height', String(height));
    const ground = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
    for (const [name, value] of [['width', flowWidth], ['height', height], ['fill', themeColour('panel')]]) ground.setAttribute(String(name), String(value));
    copy.prepend(ground);
    const text = new XMLSerializer().serializeToString(copy);
    const name = fileName(this.mission.name, 'decision', `swarm-${this.swarm + 1}`);
    if (kind === 'svg') download(`${name}.svg`, text, 'image/svg+xml');
    else downloadSvgAsPng(`${name}.png`, text, flowWidth, height);
  }

  // To the global round before or after, of the chosen swarm.
  stepRound(by: number): void {
    this.chosen = true;
    const times = this.mission.legs[this.swarm]?.flatMap((leg) => leg.rounds.map((r) => r.start)) ?? [];
    const time = this.timeline.time;
    const next = by > 0 ? times.find((t) => t > time + 1e-6) : times.filter((t) => t < time - 1e-6).pop();
    if (next !== undefined) this.timeline.seek(next + 1e-6);
  }

  // True if the key did something.
  key(event: KeyboardEvent): boolean {
    const t = this.timeline;
    const small = Math.max(1, this.mission.end / 200);
    const point: Record<string, () => void> = {
      ' ': () => t.toggle(),
      ArrowLeft: () => (event.shiftKey ? t.stepSequence(-1) : t.seek(t.time - small)),
      ArrowRight: () => (event.shiftKey ? t.stepSequence(1) : t.seek(t.time + small)),
      ArrowUp: () => t.changeSpeed(1),
      ArrowDown: () => t.changeSpeed(-1),
      Home: () => t.seek(0),
      End: () => t.seek(Infinity),
      l: () => t.follow(!this.mission.finished),
      c: () => this.setColouring(({ accuracy: 'drift', drift: 'age', age: 'accuracy' } as const)[this.map.colouring]),
      s: () => this.select({ swarm: (this.swarm + 1) % this.mission.world.swarms.length }),
      n: () => this.select({ cluster: this.cluster === null ? 0 : (this.cluster + 1) % this.mission.world.clusters.length }),
      ',': () => this.stepRound(-1),
      '.': () => this.stepRound(1),
      '+': () => this.map.zoom(1.4),
      '-': () => this.map.zoom(1 / 1.4),
      '0': () => this.map.reset(),
      Escape: () => this.select(null),
    };
    const work = point[event.key];
    work?.();
    return work !== undefined;
  }
}

function firstAfter(mission: Mission, time: number): number {
  let low = 0;
  let high = mission.events.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (mission.events[middle].time <= time) low = middle + 1;
    else high = middle;
  }
  return low;
}


