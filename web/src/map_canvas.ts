// A canvas over a plane in metres: what of it is seen, moved and zoomed by pointers.

import { h } from './dom';
import { Point } from './mission';

interface View {
  x: number; // m, at the canvas' centre
  y: number;
  scale: number; // px per m
}

export abstract class MapCanvas {
  readonly element = h('div', { class: 'map' });
  onMove: () => void = () => {};

  protected readonly canvas: HTMLCanvasElement;
  protected readonly context: CanvasRenderingContext2D;
  protected view: View = { x: 0, y: 0, scale: 1 };
  protected fitted: View = { x: 0, y: 0, scale: 1 };
  protected width = 1; // px
  protected height = 1;
  protected ratio = 1; // device pixels per px
  private points: Point[] = [];
  private touched = false;

  protected constructor(label: string) {
    this.canvas = h('canvas', { tabindex: 0, role: 'img', 'aria-label': label }) as HTMLCanvasElement;
    this.context = this.canvas.getContext('2d', { alpha: false })!;
    this.element.append(this.canvas);
    new ResizeObserver(() => this.resize()).observe(this.element);
    this.listen();
  }

  protected abstract clicked(at: Point): void;
  protected abstract hovered(at: Point | null): void;

  picture(): HTMLCanvasElement {
    return this.canvas;
  }

  reset(): void {
    this.touched = false;
    this.view = { ...this.fitted };
    this.onMove();
  }

  zoom(factor: number, at: Point = [this.width / 2, this.height / 2]): void {
    const before = this.toWorld(at);
    this.view.scale = Math.min(this.fitted.scale * 60, Math.max(this.fitted.scale / 3, this.view.scale * factor));
    const after = this.toWorld(at);
    this.view.x += before[0] - after[0];
    this.view.y += before[1] - after[1];
    this.touched = true;
    this.onMove();
  }

  // Shows all of these places.
  protected cover(points: Point[]): void {
    this.points = points;
    this.touched = false;
    this.resize();
  }

  private resize(): void {
    const box = this.element.getBoundingClientRect();
    if (box.width < 2 || box.height < 2) return;
    this.width = box.width;
    this.height = box.height;
    this.ratio = Math.min(2, devicePixelRatio || 1);
    this.canvas.width = Math.round(box.width * this.ratio);
    this.canvas.height = Math.round(box.height * this.ratio);
    this.fit();
    this.onMove();
  }

  private fit(): void {
    if (this.points.length === 0) return;
    const [xs, ys] = [this.points.map((p) => p[0]), this.points.map((p) => p[1])];
    const [west, east] = [Math.min(...xs), Math.max(...xs)];
    const [south, north] = [Math.min(...ys), Math.max(...ys)];
    const margin = Math.min(64, this.width / 7);
    const scale = Math.min(
      (this.width - 2 * margin) / Math.max(1, east - west),
      (this.height - 2 * margin - 24) / Math.max(1, north - south),
    );
    this.fitted = { x: (west + east) / 2, y: (south + north) / 2 + 8 / scale, scale };
    if (!this.touched) this.view = { ...this.fitted };
  }

  protected toWorld([px, py]: Point): Point {
    return [
      this.view.x + (px - this.width / 2) / this.view.scale,
      this.view.y - (py - this.height / 2) / this.view.scale,
    ];
  }
  protected x(east: number): number {
    return this.width / 2 + (east - this.view.x) * this.view.scale;
  }
  protected y(north: number): number {
    return this.height / 2 - (north - this.view.y) * this.view.scale;
  }
  protected visible(place: Point): boolean {
    const [x, y] = [this.x(place[0]), this.y(place[1])];
    return x > -this.width && y > -this.height && x < 2 * this.width && y < 2 * this.height;
  }

  private at(event: MouseEvent): Point {
    const box = this.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  private listen(): void {
    const pointers = new Map<number, Point>();
    let moved = 0;
    this.canvas.addEventListener('pointerdown', (event) => {
      this.canvas.setPointerCapture(event.pointerId);
      pointers.set(event.pointerId, this.at(event));
      moved = 0;
    });
    this.canvas.addEventListener('pointermove', (event) => {
      const now = this.at(event);
      const last = pointers.get(event.pointerId);
      if (!last) {
        this.hovered(now);
        return;
      }
      moved += Math.hypot(now[0] - last[0], now[1] - last[1]);
      if (pointers.size === 2) {
        const [other] = [...pointers].filter(([id]) => id !== event.pointerId).map(([, p]) => p);
        const [before, after] = [last, now].map((p) => Math.hypot(p[0] - other[0], p[1] - other[1]));
        this.zoom(after / Math.max(1, before), other);
      } else if (moved > 3) {
        this.view.x -= (now[0] - last[0]) / this.view.scale;
        this.view.y += (now[1] - last[1]) / this.view.scale;
        this.touched = true;
        this.onMove();
      }
      pointers.set(event.pointerId, now);
    });
    const up = (event: PointerEvent) => {
      pointers.delete(event.pointerId);
      if (event.type === 'pointerup' && moved <= 3) {
        this.clicked(this.at(event));
      }
    };
    this.canvas.addEventListener('pointerup', up);
    this.canvas.addEventListener('pointercancel', up);
    this.canvas.addEventListener('pointerleave', () => this.hovered(null));
    this.canvas.addEventListener('dblclick', () => this.reset());
    this.canvas.addEventListener('wheel', (event) => {
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY / 400), this.at(event));
    }, { passive: false });
  }
}
