// A mission as the page shows it, and what is known of it at a time.

import { Json } from './files';

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
  trip: number; // s, of the leader towards the access point and back
  way: number; // m, that it flies towards it; infinite: all the way
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
  start: number; // s: when it leaves; before the sequence's start if it was under way then
  arrival: number; // after the sequence's end if it still is then
  finished: number;
  end: number;
  from: number; // sites: clusters, then stations
  to: number;
  does: 'train' | 'recharge' | 'rest' | 'nothing'; // there; nothing: no UAV is left that could lead
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

export function siteName(world: World, site: number): string {
  return site < world.clusters.length ? world.clusters[site].name : world.stations[site - world.clusters.length].name;
}

export function sitePosition(world: World, site: number): Point {
  return site < world.clusters.length
    ? world.clusters[site].centre
    : world.stations[site - world.clusters.length].position;
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
  if (leg.does === 'rest') return `rests at ${place}`;
  if (time < leg.start) return `waits to fly to ${place}`;
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
