// Charts on the page: uPlot, with the time of the map as a line across all of them.

import uPlot from 'uplot';
import { Chart, csvOf, Series } from './charts';
import { chartSvg, svgHeight, svgWidth, timeUnit } from './chart_svg';
import { dot, download, downloadSvgAsPng, fileName, h, number, replace, themeColour } from './dom';

export interface Mark {
  time: number;
  colour: string;
}

const plotHeight = 210;

export class ChartView {
  readonly element: HTMLElement;
  onSeek: (time: number) => void = () => {};
  private plot: uPlot | null = null;
  private readonly body = h('div', { class: 'plot' });
  private readonly title = h('h3');
  private readonly note = h('p', { class: 'note' });
  private readonly line = h('div', { class: 'now' });
  private marks: Mark[] = [];
  private time = 0;
  private shape = '';

  constructor(
    private chart: Chart,
    private readonly end: () => number,
    private readonly prefix: () => string,
  ) {
    const button = (label: string, help: string, work: () => void) =>
      h('button', { class: 'small', title: help, 'aria-label': `${help}: ${chart.title}`, 'data-save': label, click: work }, label);
    this.element = h('section', { class: 'card chart', 'data-chart': chart.id, 'aria-label': chart.title },
      h('header', {}, this.title, h('span', { class: 'tools' },
        button('SVG', 'Download as SVG', () => download(this.file('svg'), chartSvg(this.chart), 'image/svg+xml')),
        button('PNG', 'Download as PNG', () => downloadSvgAsPng(this.file('png'), chartSvg(this.chart), svgWidth, svgHeight)),
        button('CSV', 'Download the data as CSV', () => download(this.file('csv'), csvOf(this.chart), 'text/csv')))),
      this.body, this.note);
    let width = 0;
    new ResizeObserver(() => {
      if (this.plot && this.body.clientWidth > 0 && this.body.clientWidth !== width) {
        width = this.body.clientWidth;
        this.plot.setSize({ width, height: plotHeight });
        this.setTime(this.time);
      }
    }).observe(this.body);
    this.body.addEventListener('mousemove', (event) => this.hint(event));
    this.body.addEventListener('click', (event) => {
      if (!this.plot || !(event.target as Element).classList.contains('u-over')) return;
      this.onSeek(this.plot.posToVal(event.clientX - this.plot.over.getBoundingClientRect().left, 'x'));
    });
  }

  private file(ending: string): string {
    return `${fileName(this.prefix(), this.chart.id)}.${ending}`;
  }

  show(chart: Chart, marks: Mark[]): void {
    this.chart = chart;
    this.marks = marks;
    this.title.textContent = chart.title;
    replace(this.note, ...(chart.key ?? []).flatMap(({ text, colour }) => [dot(colour), `${text}  `]), chart.note);
    this.note.hidden = this.note.childNodes.length === 0;
    // A running mission adds points to the same series: then the plot stays, with its zoom and its hidden lines.
    const shape = JSON.stringify([chart.title, chart.series.map((s) => [s.label, s.colour, s.width]), chart.rows, chart.levels, themeColour('ink')]);
    if (this.plot && shape === this.shape && !chart.rows) this.plot.setData(this.data());
    else {
      this.shape = shape;
      this.draw();
    }
    this.setTime(this.time);
  }

  private data(): uPlot.AlignedData {
    const values = this.chart.rows
      ? [this.chart.x.map(() => 0)]
      : this.chart.series.map((s) => (this.chart.log ? s.values.map((v) => (v !== null && v > 0 ? v : null)) : s.values));
    return [this.chart.x, ...values] as uPlot.AlignedData;
  }

  private draw(): void {
    const { chart } = this;
    this.plot?.destroy();
    const [ink, grid] = [themeColour('faint'), themeColour('grid')];
    const font = '11px system-ui, sans-serif';
    const rows = chart.rows;
    const axis = { stroke: ink, font, labelFont: font, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1 } };
    const options: uPlot.Options = {
      width: Math.max(200, this.body.clientWidth),
      height: plotHeight,
      padding: [8, 10, 0, 0],
      cursor: { sync: { key: 'time', scales: ['x', null] }, drag: { x: true, y: false }, points: { size: 6 } },
      legend: { live: !rows, show: !rows, markers: { width: 0, fill: (_u, i) => (i > 0 ? sample(chart.series[i - 1]) : '') } },
      scales: {
        x: { time: false, range: (_u, low, high) => {
          const { x } = this.chart;
          const whole = x.length === 0 || ((low ?? 0) <= x[0] && (high ?? 0) >= x[x.length - 1]);
          return whole ? [0, this.end()] : [low, high];
        } },
        y: rows
          ? { range: [0, rows.length], dir: -1 }
          : chart.log
            ? { distr: 3 }
            : { range: (_u, low, high) => {
                const top = Math.max(high ?? 1, ...chart.levels.map((l) => l.value));
                return [Math.min(0, low ?? 0), top > 0 ? top * 1.06 : 1];
              } },
      },
      axes: [
        { ...axis, size: 34, label: `simulated time, ${timeUnit(this.end()).name}`, labelSize: 16, labelGap: 0,
          splits: (_u, _i, low, high) => timeSplits(low, high, Math.max(3, Math.floor(this.body.clientWidth / 90))),
          values: (_u, splits) => splits.map((t) => String(+(t / timeUnit(this.end()).seconds).toPrecision(6))) },
        { ...axis, size: 52, label: chart.unit, labelSize: 18,
          ...(rows
            ? { splits: () => rows.map((_, i) => i + 0.5).filter((_, i) => i % Math.ceil(rows.length / 14) === 0),
                values: (_u: uPlot, splits: number[]) => splits.map((v) => rows[Math.floor(v)]) }
            : chart.log
              ? { filter: (_u: uPlot, splits: number[]) => splits, splits: (_u: uPlot, _i: number, low: number, high: number) => decades(low, high),
                  values: (_u: uPlot, splits: number[]) => splits.map((v) => (v === null ? '' : v < 1e-3 || v > 1e4 ? v.toExponential(0).replace('e+', 'e') : String(+v.toPrecision(1)))) }
              : { values: (_u: uPlot, splits: number[]) => splits.map((v) => (v === null ? '' : number(v))) }) },
      ],
      series: [
        { label: 'time', value: (_u, t) => (t === null ? '' : `${number(t / timeUnit(this.end()).seconds, 4)} ${timeUnit(this.end()).name}`) },
        ...(rows
          ? [{ label: 'site', width: 0, points: { show: false } }]
          : chart.series.map((s) => ({
              label: s.label, stroke: s.colour, width: s.width, dash: s.dash, points: { show: chart.x.length < 3 },
              spanGaps: true, value: (_u: uPlot, v: number | null) => (v === null ? '' : number(v)),
            }))),
      ],
      hooks: { draw: [(u) => this.decorate(u)] },
    };
    this.body.replaceChildren();
    this.plot = new uPlot(options, this.data(), this.body);
    this.plot.over.append(this.line);
    // Names of lines hide and show them by keyboard too.
    for (const name of this.body.querySelectorAll<HTMLElement>('.u-series:not(:first-child) th')) {
      name.tabIndex = 0;
      name.setAttribute('role', 'button');
      name.addEventListener('keydown', (event) => event.key === 'Enter' && name.click());
    }
  }

  // What the bar under the pointer is.
  private hint(event: MouseEvent): void {
    const { rows, bars } = this.chart;
    if (!this.plot || !rows || !bars) return;
    const box = this.plot.over.getBoundingClientRect();
    const time = this.plot.posToVal(event.clientX - box.left, 'x');
    const row = Math.floor(((event.clientY - box.top) / Math.max(1, box.height)) * rows.length);
    this.plot.over.title = bars.find((b) => b.row === row && b.from <= time && time <= b.to)?.text ?? '';
  }

  // Bars, thresholds and what went wrong, on uPlot's canvas.
  private decorate(u: uPlot): void {
    const c = u.ctx;
    const { left, top, width, height } = u.bbox;
    c.save();
    c.beginPath();
    c.rect(left, top, width, height);
    c.clip();
    if (this.chart.rows && this.chart.bars) {
      const tall = height / this.chart.rows.length;
      for (const bar of this.chart.bars) {
        const [from, to] = [u.valToPos(bar.from, 'x', true), u.valToPos(bar.to, 'x', true)];
        c.fillStyle = bar.colour;
        c.fillRect(from, top + bar.row * tall + Math.min(2, tall * 0.15), Math.max(1, to - from - 1), tall - Math.min(4, tall * 0.3));
      }
    }
    c.fillStyle = themeColour('ink');
    c.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
    c.textAlign = 'right';
    for (const level of this.chart.levels) {
      c.strokeStyle = themeColour('ink');
      c.lineWidth = devicePixelRatio;
      const y = u.valToPos(level.value, 'y', true);
      c.setLineDash([3 * devicePixelRatio, 4 * devicePixelRatio]);
      c.beginPath();
      c.moveTo(left, y);
      c.lineTo(left + width, y);
      c.stroke();
      c.setLineDash([]);
      c.lineWidth = 3 * devicePixelRatio;
      c.strokeStyle = themeColour('panel');
      c.strokeText(level.text, left + width - 4, y - 4 * devicePixelRatio);
      c.fillText(level.text, left + width - 4, y - 4 * devicePixelRatio);
    }
    c.lineWidth = 1.5 * devicePixelRatio;
    c.setLineDash([2 * devicePixelRatio, 2 * devicePixelRatio]);
    for (const mark of this.marks) {
      const x = u.valToPos(mark.time, 'x', true);
      c.strokeStyle = mark.colour;
      c.globalAlpha = 0.6;
      c.beginPath();
      c.moveTo(x, top);
      c.lineTo(x, top + height);
      c.stroke();
    }
    c.restore();
  }

  setTime(time: number): void {
    this.time = time;
    if (!this.plot) return;
    const x = this.plot.valToPos(time, 'x');
    this.line.hidden = !(x >= 0 && x <= this.plot.bbox.width / devicePixelRatio);
    this.line.style.transform = `translateX(${x.toFixed(1)}px)`;
  }
}

// A piece of a line, as a background.
function sample({ colour, dash }: Series): string {
  let at = 0;
  const pieces = dash.map((length, i) => `${i % 2 === 0 ? colour : 'transparent'} ${at}px ${(at += length * 0.7)}px`);
  return pieces.length > 0 ? `repeating-linear-gradient(90deg, ${pieces.join(', ')})` : colour;
}

function decades(low: number, high: number): number[] {
  const [from, to] = [Math.ceil(Math.log10(low) - 1e-9), Math.floor(Math.log10(high) + 1e-9)];
  if (to - from < 2) {
    return Array.from({ length: to - from + 2 }, (_, i) => from - 1 + i)
      .flatMap((power) => [1, 2, 5].map((m) => m * 10 ** power))
      .filter((v) => v >= low * (1 - 1e-9) && v <= high * (1 + 1e-9));
  }
  const step = Math.max(1, Math.ceil((to - from) / 6));
  const list: number[] = [];
  for (let power = from; power <= to; power += step) list.push(10 ** power);
  return list;
}

function timeSplits(low: number, high: number, most: number): number[] {
  const steps = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400];
  const step = steps.find((s) => (high - low) / s <= most) ?? Math.ceil((high - low) / most / 86400) * 86400;
  const list: number[] = [];
  for (let t = Math.ceil(low / step) * step; t <= high; t += step) list.push(t);
  return list;
}
