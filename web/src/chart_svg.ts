// A chart as an SVG of its own, for papers and slides: drawn anew, not a picture of the screen.

import { Chart } from './charts';
import { extremes, number, svg, themeColour } from './dom';

export const svgWidth = 720;
export const svgHeight = 400;

export interface TimeUnit {
  seconds: number;
  name: string;
}
export function timeUnit(end: number): TimeUnit {
  return end > 3 * 3600 ? { seconds: 3600, name: 'h' } : end > 300 ? { seconds: 60, name: 'min' } : { seconds: 1, name: 's' };
}

function ticks(low: number, high: number, count: number): number[] {
  const raw = (high - low) / count || 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * ([1, 2, 5, 10].find((m) => m * power >= raw) ?? 10);
  const list: number[] = [];
  for (let value = Math.ceil(low / step) * step; value <= high + step * 1e-9; value += step) list.push(+value.toPrecision(12));
  return list;
}

export function chartSvg(chart: Chart): string {
  const names = chart.key?.map(({ text, colour }) => ({ label: text, colour, dash: [] as number[], width: 8 })) ?? chart.series;
  const legendRows = Math.ceil(names.length / 4);
  const box = { left: 64, right: svgWidth - 16, top: 34, bottom: svgHeight - 46 - 16 * legendRows };
  const values = chart.series.flatMap((s) => s.values).filter((v): v is number => v !== null && (!chart.log || v > 0));
  values.push(...chart.levels.map((l) => l.value));
  let [low, high] = chart.rows ? [0, chart.rows.length] : extremes(values);
  if (!Number.isFinite(low)) [low, high] = [chart.log ? 1 : 0, 10];
  if (chart.log) [low, high] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high) + 1e-9)];
  else if (!chart.rows) [low, high] = [Math.min(0, low), high * 1.05 || 1];
  const end = Math.max(1e-9, extremes(chart.x)[1]);
  const unit = timeUnit(end);
  const px = (t: number) => box.left + ((box.right - box.left) * t) / end;
  const py = (v: number) => box.bottom - ((box.bottom - box.top) * ((chart.log ? Math.log10(v) : v) - low)) / (high - low || 1);
  const [ground, ink, grid] = [themeColour('panel'), themeColour('ink'), themeColour('grid')];
  const text = (x: number, y: number, content: string, anchor = 'middle', more = {}) =>
    svg('text', { x, y, 'text-anchor': anchor, 'font-size': 12, fill: ink, ...more }, content);
  const root = svg('svg', {
    xmlns: 'http://www.w3.org/2000/svg', width: svgWidth, height: svgHeight, viewBox: `0 0 ${svgWidth} ${svgHeight}`,
    'font-family': 'Helvetica, Arial, sans-serif',
  });
  root.append(svg('rect', { width: svgWidth, height: svgHeight, fill: ground }));
  root.append(text(box.left, 20, chart.title, 'start', { 'font-weight': 'bold', 'font-size': 14 }));
  for (const t of ticks(0, end / unit.seconds, 8)) {
    const x = px(t * unit.seconds);
    root.append(svg('line', { x1: x, x2: x, y1: box.top, y2: box.bottom, stroke: grid }), text(x, box.bottom + 16, String(t)));
  }
  if (chart.rows) {
    const rows = chart.rows;
    const height = (box.bottom - box.top) / rows.length;
    rows.forEach((name, i) => {
      if (rows.length <= 24) root.append(text(box.left - 6, box.top + (i + 0.5) * height + 4, name, 'end', { 'font-size': 11 }));
    });
    for (const bar of chart.bars ?? []) {
      root.append(svg('rect', {
        x: px(bar.from), y: box.top + bar.row * height + 1, width: Math.max(0.5, px(bar.to) - px(bar.from)),
        height: Math.max(0.5, height - 2), fill: bar.colour,
      }, svg('title', {}, bar.text)));
    }
  } else {
    const marks = chart.log
      ? Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i)).filter((_, i, all) => all.length < 9 || i % 2 === 0)
      : ticks(low, high, 6);
    for (const v of marks) {
      root.append(svg('line', { x1: box.left, x2: box.right, y1: py(v), y2: py(v), stroke: grid }), text(box.left - 6, py(v) + 4, number(v), 'end'));
    }
  }
  for (const level of chart.levels) {
    root.append(
      svg('line', { x1: box.left, x2: box.right, y1: py(level.value), y2: py(level.value), stroke: ink, 'stroke-dasharray': '2 3' }),
      text(box.right - 4, py(level.value) - 4, `${level.text} ${number(level.value)}`, 'end', { 'font-size': 11 }));
  }
  const stroke = (s: { colour: string; dash: number[]; width: number }) =>
    ({ fill: 'none', stroke: s.colour, 'stroke-width': s.width, 'stroke-dasharray': s.dash.join(' ') || undefined });
  for (const s of chart.series) {
    let path = '';
    let pen = false;
    s.values.forEach((v, k) => {
      if (v === null || (chart.log && v <= 0)) pen = false;
      else {
        path += `${pen ? 'L' : 'M'}${px(chart.x[k]).toFixed(1)} ${py(v).toFixed(1)}`;
        pen = true;
      }
    });
    root.append(svg('path', { d: path || 'M0 0', ...stroke(s) }));
  }
  names.forEach((s, i) => {
    const [x, y] = [box.left + (i % 4) * 162, box.bottom + 50 + 16 * Math.floor(i / 4)];
    root.append(svg('line', { x1: x, x2: x + 20, y1: y - 4, y2: y - 4, ...stroke(s) }), text(x + 25, y, s.label, 'start', { 'font-size': 11 }));
  });
  root.append(
    svg('path', { d: `M${box.left} ${box.top}V${box.bottom}H${box.right}`, fill: 'none', stroke: ink }),
    text((box.left + box.right) / 2, box.bottom + 32, `simulated time, ${unit.name}`),
    text(14, (box.top + box.bottom) / 2, chart.unit, 'middle', { transform: `rotate(-90 14 ${(box.top + box.bottom) / 2})` }));
  return new XMLSerializer().serializeToString(root);
}
