// The time of the mission: play, pause, speed, and an axis with sequences and events to scrub on.

import { clock, colour, h, icon, isDark, replace, themeColour } from './dom';
import { Event, Mission, sequenceAt } from './mission';

const speeds = [1, 5, 10, 30, 60, 120, 240, 480, 960, 1920, 3840];
const fullScreenSeconds = 75; // a mission at the speed it begins with

// Kinds that are known, in their lanes; any other is a fault or something newer, and has the lowest.
const lanes: Record<string, { lane: number; tone: number; text: string }> = {
  leaves: { lane: -1, tone: 7, text: 'leaves' },
  arrives: { lane: -1, tone: 7, text: 'arrives' },
  'measured constants': { lane: -1, tone: 7, text: 'bounds’ constants measured' },
  'hands over': { lane: 0, tone: 2, text: 'model handed over' },
  recharged: { lane: 1, tone: 0, text: 'recharged' },
  'below threshold': { lane: 2, tone: 4, text: 'below threshold' },
  'cannot train': { lane: 2, tone: 3, text: 'cannot train' },
};
export function laneOf(kind: string): { lane: number; tone: number; text: string } {
  return lanes[kind] ?? { lane: 2, tone: 1, text: kind };
}
// The kinds of events that a mission has on its axis.
export function kindsOf(mission: Mission): { tone: number; text: string }[] {
  return [...new Set(mission.events.map((e) => e.kind))].map(laneOf).filter(({ lane }) => lane >= 0);
}
// Whether it is something that went wrong, or is not known here.
export function isTrouble(event: Event): boolean {
  return laneOf(event.kind).lane === 2;
}

export class Timeline {
  readonly element: HTMLElement;
  time = 0;
  playing = false;
  followsEnd = false; // of a running mission
  onTime: (time: number) => void = () => {};

  private mission: Mission | null = null;
  private speed = 120;
  private last = 0;
  private readonly axis = h('canvas', {
    class: 'axis', tabindex: 0, role: 'slider', 'aria-label': 'Time of the mission', 'aria-valuemin': 0,
  }) as HTMLCanvasElement;
  private readonly play = h('button', { class: 'play', 'aria-label': 'Play', title: 'Play or pause (space)' }, icon('play'));
  private readonly now = h('output', { class: 'clock', 'aria-live': 'off' });
  private readonly rate = h('select', { 'aria-label': 'Speed', title: 'Simulated seconds per second (up, down)' },
    ...speeds.map((s) => h('option', { value: s }, `${s}×`))) as HTMLSelectElement;
  private readonly live = h('button', { class: 'live', title: 'Follow the running mission', hidden: true }, '● live');
  private still: HTMLCanvasElement | null = null; // the axis without the time

  constructor() {
    const step = (by: number, label: string, name: 'before' | 'after') =>
      h('button', { 'aria-label': label, title: label, click: () => this.stepSequence(by) }, icon(name));
    this.element = h('div', { class: 'timeline' },
      h('div', { class: 'controls' }, step(-1, 'Sequence before (shift left)', 'before'), this.play, step(1, 'Next sequence (shift right)', 'after'),
        this.rate, this.now, this.live),
      this.axis);
    this.play.addEventListener('click', () => this.toggle());
    this.rate.addEventListener('change', () => (this.speed = Number(this.rate.value)));
    this.live.addEventListener('click', () => this.follow(true));
    const seek = (event: PointerEvent) => {
      const box = this.axis.getBoundingClientRect();
      this.seek(((event.clientX - box.left) / Math.max(1, box.width)) * this.end());
    };
    this.axis.addEventListener('pointerdown', (event) => {
      this.axis.setPointerCapture(event.pointerId);
      seek(event);
    });
    this.axis.addEventListener('pointermove', (event) => {
      if (event.buttons > 0) seek(event);
      else this.hint(event);
    });
    new ResizeObserver(() => this.redraw()).observe(this.axis);
  }

  show(mission: Mission, fresh: boolean): void {
    this.mission = mission;
    if (fresh) {
      this.time = 0;
      this.playing = false;
      this.followsEnd = !mission.finished;
      const wanted = mission.end / fullScreenSeconds;
      this.setSpeed(speeds.find((s) => s >= wanted) ?? speeds[speeds.length - 1]);
    }
    // The last sequence and the end of the mission may come together.
    if (this.followsEnd) this.time = mission.end;
    if (mission.finished) this.followsEnd = false;
    this.live.hidden = mission.finished;
    this.axis.setAttribute('aria-valuemax', String(Math.round(mission.end)));
    this.redraw();
    this.changed();
  }

  private end(): number {
    return this.mission?.end ?? 0;
  }

  toggle(): void {
    if (!this.playing && this.time >= this.end()) this.time = 0;
    this.playing = !this.playing;
    this.followsEnd = false;
    this.last = performance.now();
    this.changed();
  }

  follow(on: boolean): void {
    this.followsEnd = on;
    if (on) {
      this.playing = false;
      this.time = this.end();
    }
    this.changed();
  }

  seek(time: number): void {
    this.time = Math.min(this.end(), Math.max(0, time));
    this.followsEnd = false;
    this.changed();
  }

  stepSequence(by: number): void {
    if (!this.mission || this.mission.num === 0) return;
    const here = sequenceAt(this.mission, this.time);
    const back = by < 0 && this.time > this.mission.start[here] + 1 ? here : here + by;
    this.seek(back >= this.mission.num ? this.end() : this.mission.start[Math.max(0, back)]);
  }

  changeSpeed(by: number): void {
    const at = Math.min(speeds.length - 1, Math.max(0, speeds.indexOf(this.speed) + by));
    this.setSpeed(speeds[at]);
  }

  private setSpeed(speed: number): void {
    this.speed = speed;
    this.rate.value = String(speed);
  }

  // Once a frame: whether time has moved.
  tick(now: number): boolean {
    const elapsed = Math.min(0.25, (now - this.last) / 1000);
    this.last = now;
    if (!this.playing) return false;
    this.time = Math.min(this.end(), this.time + elapsed * this.speed);
    if (this.time >= this.end()) this.playing = false;
    this.changed();
    return true;
  }

  private changed(): void {
    const label = this.playing ? 'Pause' : 'Play';
    if (this.play.getAttribute('aria-label') !== label) {
      this.play.setAttribute('aria-label', label);
      replace(this.play, icon(this.playing ? 'pause' : 'play'));
    }
    this.live.classList.toggle('on', this.followsEnd);
    const sequence = this.mission && this.mission.num > 0 ? sequenceAt(this.mission, this.time) : 0;
    const of = this.mission && Number.isFinite(this.mission.planned) ? ` of ${this.mission.planned}` : '';
    this.now.textContent = `${clock(this.time)} · sequence ${sequence + 1}${of}`;
    this.axis.setAttribute('aria-valuenow', String(Math.round(this.time)));
    this.axis.setAttribute('aria-valuetext', this.now.textContent);
    this.drawTime();
    this.onTime(this.time);
  }

  redraw(): void {
    const box = this.axis.getBoundingClientRect();
    if (!this.mission || box.width < 2) return;
    const ratio = Math.min(2, devicePixelRatio || 1);
    this.axis.width = Math.round(box.width * ratio);
    this.axis.height = Math.round(box.height * ratio);
    this.still = document.createElement('canvas');
    this.still.width = this.axis.width;
    this.still.height = this.axis.height;
    const c = this.still.getContext('2d')!;
    c.scale(ratio, ratio);
    const { width, height } = box;
    const x = (t: number) => (t / Math.max(1e-9, this.end())) * width;
    this.mission.start.forEach((start, s) => {
      c.fillStyle = s % 2 === 0 ? themeColour('band') : themeColour('panel');
      c.fillRect(x(start), 0, x(this.mission!.ends[s]) - x(start), height);
    });
    const lane = height / 3;
    for (const event of this.mission.events) {
      const kind = laneOf(event.kind);
      if (kind.lane < 0) continue;
      c.fillStyle = colour(kind.tone);
      const tall = kind.lane === 2 ? height : lane;
      c.globalAlpha = kind.lane === 2 ? 0.85 : 0.8;
      c.fillRect(x(event.time) - 1.25, kind.lane === 2 ? 0 : kind.lane * lane + 2, 2.5, tall - 3);
    }
    c.globalAlpha = 1;
    this.drawTime();
  }

  private drawTime(): void {
    if (!this.still) return;
    const c = this.axis.getContext('2d')!;
    c.setTransform(1, 0, 0, 1, 0, 0);
    c.clearRect(0, 0, this.axis.width, this.axis.height);
    c.drawImage(this.still, 0, 0);
    const ratio = Math.min(2, devicePixelRatio || 1);
    const x = (this.time / Math.max(1e-9, this.end())) * this.axis.width;
    c.fillStyle = isDark() ? 'rgba(255,255,255,0.12)' : 'rgba(0,0,0,0.08)';
    c.fillRect(0, 0, x, this.axis.height);
    c.fillStyle = themeColour('accent');
    c.fillRect(Math.min(this.axis.width - 2 * ratio, Math.max(0, x - ratio)), 0, 2 * ratio, this.axis.height);
  }

  private hint(event: PointerEvent): void {
    if (!this.mission) return;
    const box = this.axis.getBoundingClientRect();
    const time = ((event.clientX - box.left) / Math.max(1, box.width)) * this.end();
    const reach = (4 / Math.max(1, box.width)) * this.end();
    const near = this.mission.events.filter((e) => laneOf(e.kind).lane >= 0 && Math.abs(e.time - time) < reach).slice(0, 5);
    this.axis.title = near.length > 0
      ? near.map((e) => `${clock(e.time)} ${e.swarm !== null ? `swarm ${e.swarm + 1} ` : ''}${e.kind} ${e.text}`).join('\n')
      : clock(time);
  }
}
