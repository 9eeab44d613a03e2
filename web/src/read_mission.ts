// A mission made of the files of its run directory.

import { Fault, Json, parseLines, parseObject, parseTable, Reader, RunFiles, scenarioKeys, shortened } from './files';
import { Alternative, Event, Leg, Mission, Role, World } from './mission';

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
  const keys = scenarioKeys(scenario);
  const key = (name: string) => (keys.get(name) ?? '').replace(/\s*(#.*)?$/, '').replace(/^["']|["']$/g, '');
  return {
    name: run.name && run.name !== '.' ? run.name : key('run.name') || 'mission',
    planner: key('planning.planner'),
    scenario,
    planned: Number(key('run.sequences')) || NaN,
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
  const departs = swarms.has('departs_s') ? swarms.numbers('departs_s') : null;
  const underWay = swarms.has('under_way') ? swarms.numbers('under_way') : null;
  const culprit = swarms.has('culprit') ? swarms.text('culprit') : null;
  const [battery, objective] = [swarms.numbers('least_battery_J'), swarms.numbers('objective')];
  for (let s = 0; s < num; ++s) {
    for (let u = 0; u < world.swarms.length; ++u) {
      const row = s * world.swarms.length + u;
      const destination = site('swarms.csv', to[row]);
      const isStation = destination >= world.clusters.length;
      const lost = culprit ? culprit[row] !== '' : true;
      const trains = active[row] === 1 || (underWay !== null && underWay[row] === 1);
      const does = isStation ? 'recharge' : trains ? 'train' : lost ? 'nothing' : 'rest';
      legs[u].push({
        sequence: s,
        start: departs ? departs[row] : start[s],
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
        way: line.way_m === undefined ? Infinity : reader.number('way_m'),
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
