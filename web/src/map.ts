// The mission on a map in local metres: what is where at a time, drawn on a canvas.

import { colour, extremes, h, inkOn, number, scaleColour, themeColour } from './dom';
import { MapCanvas } from './map_canvas';
import { flash, mast, shape } from './map_symbols';
import {
  accuracyAt, ageAt, batteryAt, driftAt, Leg, Mission, Point, roundAt, sequenceAt, sitePosition,
} from './mission';

export type Colouring = 'accuracy' | 'drift' | 'age';
export type Selection = { swarm: number } | { cluster: number } | null;

const trailLegs = 5;
const twoPi = 2 * Math.PI;

export class MissionMap extends MapCanvas {
  colouring: Colouring = 'accuracy';
  onSelect: (selection: Selection) => void = () => {};
  describe: (selection: Selection) => string = () => '';
  selection: Selection = null;

  private readonly tip = h('div', { class: 'tip', hidden: true });
  private mission: Mission | null = null;
  private magnify = 1; // clusters are drawn this much larger than they are
  private nearest = 1; // m, between two clusters
  private driftRange: [number, number] = [1, 10];
  private oldest = 2; // sequences
  private theme: Record<string, string> = {};
  private swarmColours: string[] = [];
  private places: { x: number; y: number; radius: number; swarm?: number; cluster?: number }[] = [];

  constructor() {
    super('Map of the mission. Drag to move, scroll to zoom, click a swarm or cluster to select it.');
    this.element.append(this.tip);
  }

  show(mission: Mission): void {
    const first = this.mission === null || this.mission.name !== mission.name;
    this.mission = mission;
    const drifts = mission.drift.flat().filter((d) => d > 0);
    this.driftRange = drifts.length > 0 ? extremes(drifts) : [1, 10];
    this.oldest = Math.max(2, ...mission.age.map((ages) => Math.max(0, ...ages)));
    const centres = mission.world.clusters.map((c) => c.centre);
    this.nearest = Infinity;
    for (let i = 0; i < centres.length; ++i) {
      for (let k = 0; k < i; ++k) {
        this.nearest = Math.min(this.nearest, Math.hypot(centres[i][0] - centres[k][0], centres[i][1] - centres[k][1]));
      }
    }
    if (first) {
      this.selection = null;
      const { clusters, stations, accessPoints } = mission.world;
      this.cover([...clusters.map((c) => c.centre), ...stations.map((t) => t.position), ...accessPoints.map((a) => a.position)]);
    }
  }

  retheme(): void {
    for (const name of ['map', 'grid', 'ink', 'faint', 'line', 'panel', 'accent']) this.theme[name] = themeColour(name);
    this.swarmColours = Array.from({ length: 8 }, (_, i) => colour(i));
    this.onMove();
  }

  // A place near a cluster, drawn larger around its centre.
  private near(centre: Point, place: Point): Point {
    return [
      this.x(centre[0] + (place[0] - centre[0]) * this.magnify),
      this.y(centre[1] + (place[1] - centre[1]) * this.magnify),
    ];
  }

  draw(time: number): void {
    const mission = this.mission;
    if (!mission) return;
    const c = this.context;
    c.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    c.fillStyle = this.theme.map;
    c.fillRect(0, 0, this.width + 2, this.height + 2);
    this.places = [];
    const radius = mission.world.clusters[0].radius;
    const wanted = Math.min(30, this.width / 17) / (radius * this.view.scale);
    this.magnify = Math.max(1, Math.min(wanted, this.nearest / (2.3 * radius)));
    const sequence = mission.num > 0 ? sequenceAt(mission, time) : 0;
    this.drawGrid();
    this.drawTrails(mission, time, sequence);
    this.drawSites(mission, time, sequence);
    this.drawSwarms(mission, time, sequence);
    this.drawLabels(mission, time, sequence);
    this.drawScale();
  }

  private drawGrid(): void {
    const c = this.context;
    const step = niceStep(90 / this.view.scale);
    const [west, north] = this.toWorld([0, 0]);
    const [east, south] = this.toWorld([this.width, this.height]);
    c.beginPath();
    for (let x = Math.ceil(west / step) * step; x < east; x += step) {
      c.moveTo(this.x(x), 0);
      c.lineTo(this.x(x), this.height);
    }
    for (let y = Math.ceil(south / step) * step; y < north; y += step) {
      c.moveTo(0, this.y(y));
      c.lineTo(this.width, this.y(y));
    }
    c.strokeStyle = this.theme.grid;
    c.lineWidth = 1;
    c.stroke();
  }

  private drawTrails(mission: Mission, time: number, sequence: number): void {
    if (mission.num === 0) return;
    const c = this.context;
    const crowd = mission.legs.length > 40;
    c.lineWidth = crowd ? 1 : 2.5;
    c.lineCap = 'round';
    mission.legs.forEach((legs, swarm) => {
      c.strokeStyle = this.swarmColours[swarm % 8];
      for (let s = Math.max(0, sequence - (crowd ? 1 : trailLegs)); s <= sequence; ++s) {
        const leg = legs[s];
        if (leg.from === leg.to) continue;
        const [from, to] = [sitePosition(mission.world, leg.from), sitePosition(mission.world, leg.to)];
        const share = progress(leg.start, leg.arrival, time);
        c.globalAlpha = 0.5 * (1 - (sequence - s) / (trailLegs + 1));
        c.beginPath();
        c.moveTo(this.x(from[0]), this.y(from[1]));
        c.lineTo(this.x(from[0] + (to[0] - from[0]) * share), this.y(from[1] + (to[1] - from[1]) * share));
        c.stroke();
      }
    });
    c.globalAlpha = 1;
  }

  // Between 0 and 1, and in words.
  private value(mission: Mission, cluster: number, time: number, sequence: number): { share: number; text: string } {
    if (mission.num === 0) return { share: NaN, text: '' };
    if (this.colouring === 'accuracy') {
      const accuracy = accuracyAt(mission, cluster, time, sequence);
      return { share: accuracy / 100, text: `${accuracy.toFixed(0)} %` };
    }
    if (this.colouring === 'age') {
      const age = ageAt(mission, cluster, time, sequence);
      return { share: 1 - age / this.oldest, text: `${age.toFixed(0)} seq` };
    }
    const drift = driftAt(mission, cluster, sequence);
    if (!(drift > 0)) return { share: NaN, text: 'unknown' };
    const [low, high] = this.driftRange.map(Math.log);
    return { share: (Math.log(drift) - low) / Math.max(1e-9, high - low), text: number(drift, 2) };
  }

  legend(): { low: string; high: string; title: string; reversed: boolean } {
    if (this.colouring === 'accuracy') return { title: 'accuracy, %', low: '0', high: '100', reversed: false };
    if (this.colouring === 'age') {
      return { title: 'age, sequences', low: '0', high: String(this.oldest), reversed: true };
    }
    return {
      title: 'drift, squared norm per sequence',
      low: number(this.driftRange[0], 2),
      high: number(this.driftRange[1], 2),
      reversed: false,
    };
  }

  private drawSites(mission: Mission, time: number, sequence: number): void {
    const c = this.context;
    const { clusters, stations, accessPoints } = mission.world;
    const named = this.named(mission);
    c.textAlign = 'center';
    c.textBaseline = 'middle';
    clusters.forEach((cluster, i) => {
      const [x, y] = [this.x(cluster.centre[0]), this.y(cluster.centre[1])];
      const radius = cluster.radius * this.view.scale * this.magnify;
      if (x < -radius || y < -radius || x > this.width + radius || y > this.height + radius) return;
      const { share } = this.value(mission, i, time, sequence);
      const known = Number.isFinite(share);
      c.beginPath();
      c.arc(x, y, radius, 0, twoPi);
      c.fillStyle = known ? scaleColour(share) : this.theme.grid;
      c.globalAlpha = 0.82;
      c.fill();
      c.globalAlpha = 1;
      const selected = this.selection && 'cluster' in this.selection && this.selection.cluster === i;
      c.lineWidth = selected ? 3 : 1;
      c.strokeStyle = selected ? this.theme.accent : this.theme.line;
      c.stroke();
      if (radius > 14) {
        c.fillStyle = known ? inkOn(share) : this.theme.ink;
        c.globalAlpha = 0.75;
        for (const device of cluster.devices) {
          const [dx, dy] = this.near(cluster.centre, device);
          c.fillRect(dx - 1.25, dy - 1.25, 2.5, 2.5);
        }
        c.globalAlpha = 1;
      }
      this.places.push({ x, y, radius: Math.max(8, radius), cluster: i });
    });
    for (const station of stations) {
      const [x, y] = [this.x(station.position[0]), this.y(station.position[1])];
      const size = named ? 9 : 4;
      c.fillStyle = this.theme.panel;
      c.strokeStyle = this.theme.ink;
      c.lineWidth = 1.5;
      c.beginPath();
      c.rect(x - size, y - size, 2 * size, 2 * size);
      c.fill();
      c.stroke();
      if (!named) continue;
      c.fillStyle = this.theme.ink;
      flash(c, x, y);
    }
    for (const access of accessPoints) {
      const [x, y] = [this.x(access.position[0]), this.y(access.position[1])];
      const size = named ? 1 : 0.5;
      c.strokeStyle = this.theme.ink;
      c.lineWidth = 1.5;
      mast(c, x, y, size);
    }
  }

  private named(mission: Mission): boolean {
    return mission.world.clusters.length <= 60 || this.view.scale > 3 * this.fitted.scale;
  }

  // Names are on top of everything.
  private drawLabels(mission: Mission, time: number, sequence: number): void {
    if (!this.named(mission)) return;
    const c = this.context;
    const { clusters, stations, accessPoints } = mission.world;
    const radius = clusters[0].radius * this.view.scale * this.magnify;
    c.font = '600 12px system-ui, sans-serif';
    clusters.forEach(({ name, centre }) => this.label(name, this.x(centre[0]), this.y(centre[1]) - radius - 9, this.theme.ink));
    stations.forEach(({ name, position }) => this.label(name, this.x(position[0]), this.y(position[1]) + 31, this.theme.ink));
    accessPoints.forEach(({ name, position }) => this.label(name, this.x(position[0]), this.y(position[1]) + 18, this.theme.ink));
    c.font = '11px system-ui, sans-serif';
    clusters.forEach(({ centre }, i) =>
      this.label(this.value(mission, i, time, sequence).text, this.x(centre[0]), this.y(centre[1]) + radius + 9, this.theme.ink));
  }

  private label(text: string, x: number, y: number, ink: string): void {
    const c = this.context;
    c.lineWidth = 3;
    c.strokeStyle = this.theme.map;
    c.strokeText(text, x, y);
    c.fillStyle = ink;
    c.fillText(text, x, y);
  }

  // Where the UAVs of a swarm are at a site, on the canvas.
  private formation(mission: Mission, swarm: number, leg: Leg, site: number, positions: Point[] | null): Point[] {
    const centre = sitePosition(mission.world, site);
    const count = mission.world.swarms[swarm].uavs.length;
    if (positions && site === leg.to) return positions.map((p) => this.near(centre, p));
    const [x, y] = [this.x(centre[0]), this.y(centre[1])];
    const ring = site < mission.world.clusters.length ? 13 : 17;
    return Array.from({ length: count }, (_, i) =>
      i === 0
        ? ([x, y - (site < mission.world.clusters.length ? 0 : 17)] as Point)
        : ([x + ring * Math.cos((twoPi * i) / count - 1.57), y + ring * Math.sin((twoPi * i) / count - 1.57)] as Point),
    );
  }

  private drawSwarms(mission: Mission, time: number, sequence: number): void {
    const detailed = mission.legs.length <= 40 || this.view.scale > 3 * this.fitted.scale;
    mission.legs.forEach((legs, swarm) => {
      const tone = this.swarmColours[swarm % 8];
      if (mission.num === 0) {
        const at = sitePosition(mission.world, mission.world.swarms[swarm].start);
        this.drawDot(this.x(at[0]), this.y(at[1]), tone, swarm);
        return;
      }
      const leg = legs[sequence];
      const flown = leg.from === leg.to ? 1 : progress(leg.start, leg.arrival, time);
      if (!detailed) {
        const [from, to] = [sitePosition(mission.world, leg.from), sitePosition(mission.world, leg.to)];
        const x = this.x(from[0] + (to[0] - from[0]) * flown);
        const y = this.y(from[1] + (to[1] - from[1]) * flown);
        if (x > -9 && y > -9 && x < this.width + 9 && y < this.height + 9) this.drawDot(x, y, tone, swarm);
        return;
      }
      if (!this.visible(sitePosition(mission.world, leg.from)) && !this.visible(sitePosition(mission.world, leg.to))) return;
      const there = this.formation(mission, swarm, leg, leg.to, leg.positions);
      const before = sequence > 0 ? legs[sequence - 1].positions : leg.from === leg.to ? leg.positions : null;
      const here =
        flown < 1 && before && leg.from < mission.world.clusters.length
          ? before.map((p) => this.near(sitePosition(mission.world, leg.from), p))
          : this.formation(mission, swarm, leg, leg.from, null);
      const places = there.map(([x, y], i): Point =>
        flown >= 1 ? [x, y] : [here[i][0] + (x - here[i][0]) * flown, here[i][1] + (y - here[i][1]) * flown],
      );
      if (leg.does === 'nothing') this.context.globalAlpha = 0.35;
      if (leg.does === 'train' && flown >= 1) this.drawRound(mission, swarm, leg, places, time, tone);
      this.drawUavs(mission, swarm, places, tone);
      this.drawName(mission, swarm, places, time, sequence, tone, (leg.does !== 'recharge' && leg.does !== 'rest') || flown < 1);
      this.context.globalAlpha = 1;
    });
  }

  private drawDot(x: number, y: number, tone: string, swarm: number): void {
    const c = this.context;
    const selected = this.selection && 'swarm' in this.selection && this.selection.swarm === swarm;
    c.beginPath();
    c.arc(x, y, selected ? 7 : 4.5, 0, twoPi);
    c.fillStyle = tone;
    c.fill();
    c.lineWidth = selected ? 2.5 : 1.2;
    c.strokeStyle = selected ? this.theme.accent : this.theme.panel;
    c.stroke();
    this.places.push({ x, y, radius: 8, swarm });
  }

  // Data on its way from devices to UAVs to workers, and the leader's trip to its access point. Moves places.
  private drawRound(mission: Mission, swarm: number, leg: Leg, places: Point[], time: number, tone: string): void {
    const round = roundAt(leg, time);
    if (!round || time > leg.finished) return;
    const c = this.context;
    const { workers, coordinators } = mission.world.swarms[swarm];
    const cluster = mission.world.clusters[leg.to];
    const uavs = workers + coordinators;
    const most = Math.max(1, ...round.deviceFlow, ...round.relayFlow);
    const phase = (performance.now() / 900) % 1;
    const flow = (from: Point, to: Point, points: number) => {
      c.globalAlpha = 0.35;
      c.lineWidth = 0.6 + (1.9 * points) / most;
      c.beginPath();
      c.moveTo(from[0], from[1]);
      c.lineTo(to[0], to[1]);
      c.stroke();
      c.globalAlpha = 0.95;
      for (const offset of [0, 0.5]) {
        const at = (phase + offset) % 1;
        const size = 1 + (1.4 * points) / most;
        c.fillRect(from[0] + (to[0] - from[0]) * at - size, from[1] + (to[1] - from[1]) * at - size, 2 * size, 2 * size);
      }
    };
    c.strokeStyle = tone;
    c.fillStyle = tone;
    for (let i = 0; i < cluster.devices.length; ++i) {
      for (let u = 0; u < uavs; ++u) {
        const points = round.deviceFlow[i * uavs + u];
        if (points > 0) flow(this.near(cluster.centre, cluster.devices[i]), places[1 + u], points);
      }
    }
    for (let k = 0; k < coordinators; ++k) {
      for (let j = 0; j < workers; ++j) {
        const points = round.relayFlow[k * workers + j];
        if (points > 0) flow(places[1 + workers + k], places[1 + j], points);
      }
    }
    c.globalAlpha = 1;
    const access = mission.world.accessPoints[leg.accessPoint];
    const out = round.start + round.training;
    if (access && round.trip > 0 && time > out && time < out + round.trip) {
      const share = (time - out) / round.trip;
      const way = share < 0.5 ? 2 * share : 2 - 2 * share;
      const there: Point = [this.x(access.position[0]), this.y(access.position[1])];
      const home = places[0];
      const whole = Math.hypot(access.position[0] - cluster.centre[0], access.position[1] - cluster.centre[1]);
      const part = Math.min(1, round.way / Math.max(whole, 1e-9));
      const goal: Point = [home[0] + (there[0] - home[0]) * part, home[1] + (there[1] - home[1]) * part];
      c.setLineDash([3, 4]);
      c.lineWidth = 1.2;
      c.beginPath();
      c.moveTo(home[0], home[1]);
      c.lineTo(goal[0], goal[1]);
      c.stroke();
      c.setLineDash([]);
      places[0] = [home[0] + (goal[0] - home[0]) * way, home[1] + (goal[1] - home[1]) * way];
    }
  }

  private drawUavs(mission: Mission, swarm: number, places: Point[], tone: string): void {
    const c = this.context;
    const { uavs } = mission.world.swarms[swarm];
    c.fillStyle = tone;
    c.strokeStyle = this.theme.panel;
    c.lineWidth = 1.3;
    for (let i = places.length - 1; i >= 0; --i) {
      const [x, y] = places[i];
      c.beginPath();
      shape(c, mission.world.uavs[uavs[i]].role, x, y, i === 0 ? 6.5 : 4.6);
      c.fill();
      c.stroke();
      this.places.push({ x, y, radius: 8, swarm });
    }
  }

  // The swarm's number and the least of its batteries.
  private drawName(
    mission: Mission, swarm: number, places: Point[], time: number, sequence: number, tone: string, above: boolean,
  ): void {
    const c = this.context;
    const { uavs } = mission.world.swarms[swarm];
    let least = 1;
    for (const id of uavs) {
      least = Math.min(least, batteryAt(mission, id, time, sequence) / mission.world.uavs[id].battery);
    }
    const xs = places.slice(1).map((p) => p[0]);
    const ys = places.slice(1).map((p) => p[1]);
    const x = Math.max(...xs, ...(xs.length === 0 ? [places[0][0]] : [])) + 16;
    const y = (ys.length > 0 ? ys.reduce((a, b) => a + b, 0) / ys.length : places[0][1]) - (above ? 0 : 2);
    const selected = this.selection && 'swarm' in this.selection && this.selection.swarm === swarm;
    c.beginPath();
    c.arc(x, y, 8.5, 0, twoPi);
    c.fillStyle = tone;
    c.fill();
    if (selected) {
      c.lineWidth = 2.5;
      c.strokeStyle = this.theme.accent;
      c.stroke();
    }
    c.fillStyle = this.theme.panel;
    c.font = '700 11px system-ui, sans-serif';
    c.fillText(String(swarm + 1), x, y + 0.5);
    c.fillStyle = this.theme.panel;
    c.fillRect(x - 11, y + 11, 22, 5);
    c.fillStyle = tone;
    c.fillRect(x - 10, y + 12, 20 * Math.max(0, least), 3);
    c.lineWidth = 0.8;
    c.strokeStyle = this.theme.line;
    c.strokeRect(x - 11, y + 11, 22, 5);
    this.places.push({ x, y, radius: 10, swarm });
  }

  private drawScale(): void {
    const c = this.context;
    const metres = niceStep(80 / this.view.scale);
    const [x, y] = [12, this.height - 14];
    c.strokeStyle = this.theme.ink;
    c.lineWidth = 1.5;
    c.beginPath();
    c.moveTo(x, y - 4);
    c.lineTo(x, y);
    c.lineTo(x + metres * this.view.scale, y);
    c.lineTo(x + metres * this.view.scale, y - 4);
    c.stroke();
    c.textAlign = 'left';
    c.font = '11px system-ui, sans-serif';
    const larger = this.magnify > 1.05 ? `, clusters ${this.magnify.toFixed(1)}× larger` : '';
    this.label(`${metres >= 1000 ? `${metres / 1000} km` : `${metres} m`}${larger}`, x + 4, y - 9, this.theme.ink);
    c.textAlign = 'center';
  }

  private find([x, y]: Point): Selection {
    for (let i = this.places.length - 1; i >= 0; --i) {
      const place = this.places[i];
      if (Math.hypot(place.x - x, place.y - y) <= place.radius) {
        return place.swarm !== undefined ? { swarm: place.swarm } : { cluster: place.cluster! };
      }
    }
    return null;
  }

  protected clicked(at: Point): void {
    this.selection = this.find(at);
    this.onSelect(this.selection);
  }

  protected hovered(at: Point | null): void {
    const found = at && this.find(at);
    this.canvas.classList.toggle('pointing', found !== null);
    this.tip.hidden = found === null;
    if (!at || !found) return;
    this.tip.textContent = this.describe(found);
    this.tip.style.left = `${Math.min(at[0] + 14, this.width - 190)}px`;
    this.tip.style.top = `${Math.min(at[1] + 14, this.height - 70)}px`;
  }
}

function progress(from: number, to: number, time: number): number {
  return to > from ? Math.min(1, Math.max(0, (time - from) / (to - from))) : 1;
}

export function niceStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return power * ([1, 2, 5, 10].find((m) => m * power >= least) ?? 10);
}
