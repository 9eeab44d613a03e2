// The offloading decision of a swarm and global round: points from devices to UAVs to workers, as a flow picture.

import { colour, number, svg, themeColour } from './dom';
import { Leg, Mission, Round, siteName } from './mission';

interface Box {
  key: string;
  label: string;
  detail: string;
  size: number;
  y: number;
  height: number;
  left: number; // px of its height already taken by flows on that side
  right: number;
}

export const flowWidth = 660;
const barWidth = 12;

export function flowPicture(mission: Mission, swarm: number, leg: Leg, round: Round): SVGElement {
  const { workers, coordinators, uavs } = mission.world.swarms[swarm];
  const devices = mission.world.clusters[leg.to].devices.length;
  const all = workers + coordinators;
  const flow = (i: number, u: number) => round.deviceFlow[i * all + u] ?? 0;
  const relay = (k: number, j: number) => round.relayFlow[k * workers + j] ?? 0;
  const range = (n: number) => Array.from({ length: n }, (_, i) => i);
  const sum = (values: number[]) => values.reduce((a, b) => a + b, 0);
  const box = (key: string, label: string, detail: string, size: number): Box => ({ key, label, detail, size, y: 0, height: 0, left: 0, right: 0 });

  const sources = range(devices).map((i) => {
    const size = sum(range(all).map((u) => flow(i, u)));
    return box(`d${i}`, `device ${i + 1}`, number(size), size);
  });
  const relays = range(coordinators).map((k) => {
    const size = sum(range(devices).map((i) => flow(i, workers + k)));
    return box(`c${k}`, `coordinator ${uavs[1 + workers + k] + 1}`, `${number(size)} points`, size);
  });
  const sinks = range(workers).map((j) => {
    const size = sum(range(devices).map((i) => flow(i, j))) + sum(range(coordinators).map((k) => relay(k, j)));
    const busy = (round.processed[j] ?? 0) > 0.5;
    return box(`w${j}`, `worker ${uavs[1 + j] + 1}`,
      busy ? `${number(size)} points, ${number(round.processed[j])} a step, ${number((round.clock[j] ?? 0) / 1e6)} MHz` : 'idle', size);
  });

  const height = Math.max(220, 20 * Math.max(devices, 2 * workers, 2 * coordinators));
  const total = Math.max(1, sum(sources.map((s) => s.size)));
  // The fullest column sets the scale, so that a flow is as wide everywhere.
  const spare = (boxes: Box[]) => height - 8 - 26 * boxes.filter((b) => b.size < total / 12).length - 4 * boxes.length;
  const scale = Math.min(...[sources, relays, sinks].filter((b) => b.length > 0).map((b) => spare(b) / Math.max(total, sum(b.map((x) => x.size)))));
  // Every box has room for its words.
  const place = (boxes: Box[], room: number) => {
    for (const b of boxes) b.height = Math.max(2, b.size * scale);
    const slots = boxes.map((b) => Math.max(room, b.height));
    const gap = (height - sum(slots)) / (boxes.length + 1);
    let y = gap;
    boxes.forEach((b, i) => {
      b.y = y + (slots[i] - b.height) / 2;
      y += slots[i] + gap;
    });
  };
  place(sources, 13);
  place(relays, 26);
  place(sinks, 26);

  const ink = themeColour('ink');
  const faint = themeColour('faint');
  const x = { devices: 112, relays: 256, workers: 412 };
  const root = svg('svg', {
    xmlns: 'http://www.w3.org/2000/svg', viewBox: `0 0 ${flowWidth} ${height + 22}`, class: 'flow', role: 'img',
    'aria-label': `Offloading decision of swarm ${swarm + 1} above ${siteName(mission.world, leg.to)}`,
    'font-family': 'system-ui, sans-serif', 'paint-order': 'stroke', stroke: themeColour('panel'), 'stroke-width': 0,
  });
  const ribbon = (from: Box, to: Box, x1: number, x2: number, points: number, tone: string) => {
    const thick = Math.max(0.75, points * scale);
    const [y1, y2] = [from.y + from.right + thick / 2, to.y + to.left + thick / 2];
    from.right += thick;
    to.left += thick;
    const middle = (x1 + x2) / 2;
    root.append(svg('path', {
      d: `M${x1} ${y1.toFixed(1)}C${middle} ${y1.toFixed(1)} ${middle} ${y2.toFixed(1)} ${x2} ${y2.toFixed(1)}`,
      fill: 'none', stroke: tone, 'stroke-width': thick.toFixed(2), 'stroke-opacity': 0.45,
    }, svg('title', {}, `${from.label} → ${to.label}: ${number(points)} points`)));
  };
  sources.forEach((source, i) => {
    relays.forEach((to, k) => flow(i, workers + k) > 0 && ribbon(source, to, x.devices + barWidth, x.relays, flow(i, workers + k), colour(4)));
    sinks.forEach((to, j) => flow(i, j) > 0 && ribbon(source, to, x.devices + barWidth, x.workers, flow(i, j), colour(j % 4)));
  });
  relays.forEach((from, k) =>
    sinks.forEach((to, j) => relay(k, j) > 0 && ribbon(from, to, x.relays + barWidth, x.workers, relay(k, j), colour(j % 4))));
  const text = (at: number, y: number, size: number, fill: string, anchor: string, content: string) =>
    root.append(svg('text', { x: at, y, 'font-size': size, fill, 'text-anchor': anchor, 'stroke-width': 3 }, content));
  const draw = (boxes: Box[], at: number, side: 'start' | 'end', tones: (i: number) => string) =>
    boxes.forEach((b, i) => {
      root.append(svg('rect', { x: at, y: b.y.toFixed(1), width: barWidth, height: b.height.toFixed(1), fill: tones(i), rx: 2 }));
      const tx = side === 'end' ? at - 5 : at + barWidth + 6;
      const middle = b.y + b.height / 2;
      text(tx, middle + (side === 'end' ? 4 : -1), 12.5, ink, side, side === 'end' ? `${b.label}: ${b.detail}` : b.label);
      if (side === 'start') text(tx, middle + 13, 11.5, faint, side, b.detail);
    });
  draw(sources, x.devices, 'end', () => faint);
  draw(relays, x.relays, 'start', () => colour(4));
  draw(sinks, x.workers, 'start', (j) => colour(j % 4));
  const foot = (at: number, words: string) => text(at + barWidth / 2, height + 16, 12, faint, 'middle', words);
  foot(x.devices, 'devices, points');
  if (coordinators > 0) foot(x.relays, 'coordinators');
  foot(x.workers + 70, 'workers: points, processed a step, clock');
  return root;
}
