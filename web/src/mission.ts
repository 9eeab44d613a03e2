// A mission as the page shows it, made of its files.

import { Fault, Json, parseLines, parseObject, parseTable, Reader, RunFiles, shortened } from './files';

export type Point = [number, number]; // m east, m north
export type Role = 'leader' | 'worker' | 'coordinator';

export interface Cluster {
  name: string;
  centre: Point;
  radius: number;
  devices: Point[];
}
export interface Uav {
  swarm: number;
  role: Role;
  type: string;
  battery: number; // J, full
  threshold: number; // J
}
export interface World {
  clusters: Cluster[];
  stations: { name: string; position: Point }[];
  accessPoints: { name: string; position: Point }[];
  swarms: { uavs: number[]; workers: number; coordinators: number; start: number }[];
  uavs: Uav[];
}

export interface Round {
  index: number;
  start: number; // s
  training: number; // s
  trip: number; // s, of the leader to the access point and back
  localRounds: number;
  objective: number;
  gradientBound: number;
  kktResidual: number;
  data: number[]; // points at each worker, then coordinator
  processed: number[]; // points per local iteration, of each worker
  clock: number[]; // Hz
  deviceFlow: number[]; // points, device x UAV
  relayFlow: number[]; // points, coordinator x worker
}

// A swarm in a training sequence.
export interface Leg {
  sequence: number;
  start: number; // s
  arrival: number;
  finished: number;
  end: number;
  from: number; // sites: clusters, then stations
  to: number;
  does: 'train' | 'recharge' | 'nothing'; // there; nothing: no UAV is left that could lead
  culprit: string; // why it could not train, if so
  leastBattery: number; // J, at the end; NaN if no UAV is left
  objective: number;
  positions: Point[] | null; // of leader, workers, coordinators above the cluster
  accessPoint: number;
  rounds: Round[];
}

export interface Event {
  time: number; // s
  sequence: number;
  kind: string;
  swarm: number | null;
  text: string;
}

export interface Alternative {
  destinations: string[];
  value: number;
  sequences: number;
}

// Per sequence; clusters' are [cluster][sequence].
export interface Mission {
  name: string;
  planner: string;
  scenario: string;
  planned: number; // sequences that it will have; NaN if unknown
  finished: boolean;
  world: World;
  num: number; // sequences so far
  end: number; // s
  start: number[];
  ends: number[];
  meanAccuracy: number[];
  worstAccuracy: number[];
  meanAge: number[];
  gradient: number[];
  gradientBound: number[];
  reward: number[];
  dataMbit: number[];
  modelMbit: number[];
  energyByKind: { kind: string; joules: number[] }[]; // spent since the start
  accuracyBefore: number[][]; // %
  accuracyAfter: number[][];
  handedOver: number[][]; // s, NaN if not visited
  age: number[][];
  drift: number[][];
  battery: number[][]; // [UAV][sequence], J at the end
  legs: Leg[][]; // [swarm][sequence]
  events: Event[]; // by time
  alternatives: Alternative[][]; // [sequence]
  summary: Json | null;
  warnings: string[];
}

const most = 1e6;

function readWorld(content: string): World {
  const file = new Reader('world.json', parseObject('world.json', content));
  const devices = file.list('devices').map((d) => d.point('position_m'));
  const clusters = file.list('clusters').map((c) => {
    const first = c.count('first_device', most);
    return {
      name: c.text('name'),
      centre: c.point('centre_m'),
      radius: c.number('radius_m'),
      devices: devices.slice(first, first + c.count('num_devices', most)),
    };
  });
  const uavs = file.list('uavs').map((u) => ({
    swarm: u.count('swarm', most),
    role: u.text('role') as Role,
    type: u.text('type'),
    battery: u.number('battery_j'),
    threshold: u.number('battery_threshold_j'),
  }));
  const swarms = file.list('swarms').map((s) => {
    const leader = s.count('leader', uavs.length - 1);
    const workers = s.count('num_workers', uavs.length);
    const coordinators = s.count('num_coordinators', uavs.length);
    const ids = Array.from({ length: 1 + workers + coordinators }, (_, i) => leader + i);
    if (leader + ids.length > uavs.length) throw new Fault('world.json: a swarm has UAVs that are not there');
    return { uavs: ids, workers, coordinators, start: s.count('start_cluster', clusters.length - 1) };
  });
  if (clusters.length === 0 || swarms.length === 0) throw new Fault('world.json: has no clusters or no swarms');
  return {
    clusters,
    stations: file.list('stations').map((s) => ({ name: s.text('name'), position: s.point('position_m') })),
    accessPoints: file
      .list('access_points')
      .map((a, i) => ({ name: `A:${i + 1}`, position: a.point('position_m') })),
    swarms,
    uavs,
  };
}

export function siteName(world: World, site: number): string {
  return site < world.clusters.length ? world.clusters[site].name : world.stations[site - world.clusters.length].name;
}

export function sitePosition(world: World, site: number): Point {
  return site < world.clusters.length
    ? world.clusters[site].centre
    : world.stations[site - world.clusters.length].position;
}

// A key of the resolved scenario, enough for a title: the writer puts one key on a line.
function scenarioValue(toml: string, section: string, key: string): string {
  let inside = false;
  for (const line of toml.split('\n')) {
    if (line.startsWith('[')) inside = line.trim() === `[${section}]`;
    else if (inside) {
      const match = /^([a-z_]+)\s*=\s*(.*?)\s*(#.*)?$/.exec(line);
      if (match && match[1] === key) return match[2].replace(/^["']|["']$/g, '');
    }
  }
  return '';
}

const quiet = new Set(['time_s', 'sequence', 'event', 'swarm']);

function describe(line: Json): string {
  const short = (key: string, scale = 1) => (typeof line[key] === 'number' ? String(+((line[key] as number) * scale).toPrecision(4)) : '?');
  if (line.event === 'hands over') {
    return `to ${String(line.to)}: accuracy ${short('accuracy_before_percent')} → ${short('accuracy_after_percent')} %`;
  }
  if (line.event === 'fault') return shortened(String(line.what), 200);
  if (line.event === 'cannot train') return shortened(String(line.why), 200);
  if (line.event === 'recharged') return `${short('energy_J', 1e-3)} kJ`;
  return Object.entries(line)
    .filter(([key]) => !quiet.has(key))
    .map(([key, value]) => {
      const text = typeof value === 'number' ? String(+value.toPrecision(5)) : typeof value === 'string' ? value : JSON.stringify(value);
      return `${key.replace(/_(J|s|percent|m)$/, ' ($1)').replace(/_/g, ' ')} ${shortened(text)}`;
    })
    .join(', ');
}

export function readMission(run: RunFiles): Mission {
  const warnings = [...run.faults];
  const need = (file: string): string => {
    const text = run.files[file];
    if (text === undefined) throw new Fault(run.faults.find((f) => f.startsWith(file)) ?? `${file}: is missing`);
    return text;
  };
  const scenario = need('scenario.toml');
  const world = readWorld(need('world.json'));
  const numClusters = world.clusters.length;
  const numSwarms = world.swarms.length;
  const sites = new Map<string, number>();
  world.clusters.forEach((c, i) => sites.set(c.name, i));
  world.stations.forEach((s, i) => sites.set(s.name, numClusters + i));
  const site = (file: string, name: string): number => {
    const found = sites.get(name);
    if (found === undefined) throw new Fault(`${file}: there is no site ${shortened(name)} in world.json`);
    return found;
  };

  const empty = 'sequence\n';
  const table = (file: string) => parseTable(file, run.files[file] ?? empty);
  const sequences = table('sequences.csv');
  const clusters = table('clusters.csv');
  const swarms = table('swarms.csv');
  const energy = table('energy.csv');
  // A running mission writes file after file: only sequences that are in all of them count.
  const num = Math.min(
    sequences.length,
    Math.floor(clusters.length / numClusters),
    Math.floor(swarms.length / numSwarms),
    Math.floor(energy.length / world.uavs.length),
  );
  const column = (name: string): number[] => (num > 0 ? sequences.numbers(name).slice(0, num) : []);
  const optional = (name: string): number[] =>
    num > 0 && sequences.has(name) ? column(name) : new Array<number>(num).fill(NaN);
  const rows = (source: ReturnType<typeof table>, width: number, name: string): number[][] => {
    const values = num > 0 ? source.numbers(name) : [];
    return Array.from({ length: width }, (_, i) => Array.from({ length: num }, (_, s) => values[s * width + i]));
  };
  const start = column('start_s');
  const ends = column('end_s');
  for (let s = 0; s < num; ++s) {
    if (!(ends[s] >= start[s]) || (s > 0 && !(start[s] >= ends[s - 1]))) {
      throw new Fault(`sequences.csv, line ${s + 2}: times do not follow one another`);
    }
  }

  const lines = run.files['events.jsonl'] ? parseLines('events.jsonl', run.files['events.jsonl']) : [];
  const legs = readLegs(world, swarms, num, start, ends, site);
  const { events, alternatives } = readEvents(world, lines, legs, num, warnings);

  let summary: Json | null = null;
  if (run.files['summary.json']) summary = parseObject('summary.json', run.files['summary.json']);
  const name = scenarioValue(scenario, 'run', 'name') || 'mission';
  return {
    name: run.name && run.name !== '.' ? run.name : name,
    planner: scenarioValue(scenario, 'planning', 'planner'),
    scenario,
    planned: Number(scenarioValue(scenario, 'run', 'sequences') || NaN),
    finished: summary !== null,
    world,
    num,
    end: num > 0 ? ends[num - 1] : 0,
    start,
    ends,
    meanAccuracy: column('mean_accuracy_percent'),
    worstAccuracy: column('worst_accuracy_percent'),
    meanAge: column('mean_age_sequences'),
    gradient: column('squared_meta_gradient'),
    gradientBound: optional('gradient_bound'),
    reward: column('reward'),
    dataMbit: column('data_Mbit'),
    modelMbit: column('model_Mbit'),
    energyByKind: sequences.header.flatMap((name) => {
      const kind = /^total_(.+)_J$/.exec(name)?.[1];
      return kind ? [{ kind: kind.replace(/_/g, ' '), joules: column(name) }] : [];
    }),
    accuracyBefore: rows(clusters, numClusters, 'accuracy_before_percent'),
    accuracyAfter: rows(clusters, numClusters, 'accuracy_after_percent'),
    handedOver: rows(clusters, numClusters, 'handed_over_s'),
    age: rows(clusters, numClusters, 'age_sequences'),
    drift: rows(clusters, numClusters, 'drift'),
    battery: rows(energy, world.uavs.length, 'battery_J'),
    legs,
    events,
    alternatives,
    summary,
    warnings,
  };
}

function readLegs(
  world: World,
  swarms: ReturnType<typeof parseTable>,
  num: number,
  start: number[],
  ends: number[],
  site: (file: string, name: string) => number,
): Leg[][] {
  const legs: Leg[][] = world.swarms.map(() => []);
  if (num === 0) return legs;
  const [from, to] = [swarms.text('from'), swarms.text('to')];
  const [active, arrival, finished] = [swarms.numbers('active'), swarms.numbers('arrival_s'), swarms.numbers('finished_s')];
  const culprit = swarms.has('culprit') ? swarms.text('culprit') : null;
  const [battery, objective] = [swarms.numbers('least_battery_J'), swarms.numbers('objective')];
  for (let s = 0; s < num; ++s) {
    for (let u = 0; u < world.swarms.length; ++u) {
      const row = s * world.swarms.length + u;
      const destination = site('swarms.csv', to[row]);
      const does = active[row] === 1 ? 'train' : destination >= world.clusters.length ? 'recharge' : 'nothing';
      legs[u].push({
        sequence: s,
        start: start[s],
        arrival: arrival[row],
        finished: finished[row],
        end: ends[s],
        from: site('swarms.csv', from[row]),
        to: destination,
        does,
        culprit: culprit ? culprit[row] : '',
        leastBattery: does === 'nothing' ? NaN : battery[row],
        objective: objective[row],
        positions: null,
        accessPoint: -1,
        rounds: [],
      });
    }
  }
  return legs;
}

function readEvents(world: World, lines: Json[], legs: Leg[][], num: number, warnings: string[]) {
  const events: Event[] = [];
  const alternatives: Alternative[][] = Array.from({ length: num }, () => []);
  lines.forEach((line, i) => {
    const where = `events.jsonl, line ${i + 1}`;
    const reader = new Reader(where, line);
    const kind = reader.text('event');
    const time = reader.number('time_s');
    const sequence = reader.count('sequence', most);
    if (sequence >= num) return;
    const named = line.swarm === undefined ? null : reader.count('swarm', world.swarms.length);
    const swarm = named === null || named === 0 ? null : named - 1;
    if (kind === 'planned') {
      alternatives[sequence] = reader.list('alternatives').map((a) => ({
        destinations: a.texts('destinations'),
        value: a.number('value'),
        sequences: a.count('sequences', most),
      }));
      return;
    }
    if (kind === 'decided' && swarm !== null) {
      if (line.round === undefined) {
        warnings.push(`${where}: a decision without its round (written by an older version) is not shown`);
        return;
      }
      legs[swarm][sequence].rounds.push({
        index: reader.count('round', most),
        start: time,
        training: reader.number('training_s'),
        trip: reader.number('trip_s'),
        localRounds: reader.count('local_rounds', most),
        objective: reader.number('objective'),
        gradientBound: reader.number('gradient_bound'),
        kktResidual: reader.number('kkt_residual'),
        data: reader.numbers('data_points'),
        processed: reader.numbers('processed_points'),
        clock: reader.numbers('clock_Hz'),
        deviceFlow: reader.numbers('device_flow_points'),
        relayFlow: reader.numbers('relay_flow_points'),
      });
      return;
    }
    let described = line;
    if (kind === 'arrives' && swarm !== null && line.positions_m !== undefined) {
      const leg = legs[swarm][sequence];
      const positions = line.positions_m;
      if (!Array.isArray(positions) || positions.length !== world.swarms[swarm].uavs.length) {
        throw new Fault(`${where}: positions_m has not one place for every UAV`);
      }
      leg.positions = positions.map((p) => new Reader(where, { p } as Json).point('p'));
      leg.accessPoint = world.accessPoints.findIndex((a) => a.name === line.access_point);
      described = { ...line };
      delete described.positions_m;
    }
    events.push({ time, sequence, kind, swarm, text: describe(described) });
  });
  events.sort((a, b) => a.time - b.time);
  return { events, alternatives };
}

// The sequence at a time, of those there are.
export function sequenceAt(mission: Mission, time: number): number {
  let low = 0;
  let high = mission.num - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (mission.start[middle] <= time) low = middle;
    else high = middle - 1;
  }
  return low;
}

export function accuracyAt(mission: Mission, cluster: number, time: number, sequence: number): number {
  const handed = mission.handedOver[cluster][sequence];
  const done = time >= (Number.isNaN(handed) ? Infinity : handed);
  return (done ? mission.accuracyAfter : mission.accuracyBefore)[cluster][sequence];
}

// What is known of a cluster when a sequence runs: the state left by the one before.
export function ageAt(mission: Mission, cluster: number, time: number, sequence: number): number {
  const handed = mission.handedOver[cluster][sequence];
  if (time >= (Number.isNaN(handed) ? Infinity : handed)) return 0;
  return sequence === 0 ? 1 : mission.age[cluster][sequence - 1];
}

export function driftAt(mission: Mission, cluster: number, sequence: number): number {
  return mission.drift[cluster][sequence];
}

export function batteryAt(mission: Mission, uav: number, time: number, sequence: number): number {
  const after = mission.battery[uav][sequence];
  const before = sequence === 0 ? mission.world.uavs[uav].battery : mission.battery[uav][sequence - 1];
  const span = mission.ends[sequence] - mission.start[sequence];
  const share = span > 0 ? Math.min(1, Math.max(0, (time - mission.start[sequence]) / span)) : 1;
  return before + (after - before) * share;
}

// What a swarm does at a time, in words.
export function activity(world: World, leg: Leg, time: number): string {
  const place = siteName(world, leg.to);
  if (leg.does === 'nothing') return 'has no UAV left that could lead';
  if (time < leg.arrival) return `flies to ${place}, to ${leg.does}`;
  if (leg.does === 'recharge') return `recharges at ${place}`;
  if (leg.culprit && leg.rounds.length === 0) return `cannot train above ${place}: ${leg.culprit}`;
  if (time >= leg.finished) return `is done above ${place}`;
  return `${roundAt(leg, time) ? 'trains' : 'waits for the others'} above ${place}`;
}

// The global round of a leg at a time; the last one begun, or none yet.
export function roundAt(leg: Leg, time: number): Round | null {
  let found: Round | null = null;
  for (const round of leg.rounds) if (round.start <= time) found = round;
  return found;
}
