// Small helpers: elements, numbers for people, colours, downloads.

type Child = Node | string | null | undefined;
type Properties = Record<string, string | number | boolean | ((event: never) => void) | undefined>;

export function h(tag: string, properties: Properties = {}, ...children: Child[]): HTMLElement {
  return fill(document.createElement(tag), properties, children) as HTMLElement;
}

export function svg(tag: string, properties: Properties = {}, ...children: Child[]): SVGElement {
  return fill(document.createElementNS('http://www.w3.org/2000/svg', tag), properties, children) as SVGElement;
}

function fill(element: Element, properties: Properties, children: Child[]): Element {
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === false) continue;
    if (typeof value === 'function') element.addEventListener(key, value as unknown as EventListener);
    else element.setAttribute(key, value === true ? '' : String(value));
  }
  for (const child of children) if (child !== null && child !== undefined) element.append(child);
  return element;
}

// Pictures on buttons, as paths in a square of 16: fonts need not have them.
export const icons = {
  play: 'M4 2v12l10-6z',
  pause: 'M3 2h4v12H3zM9 2h4v12H9z',
  before: 'M2 2h2.5v12H2zM14 2v12L5 8z',
  after: 'M11.5 2H14v12h-2.5zM2 2v12l9-6z',
  whole: 'M1 1h5v2H3v3H1zM10 1h5v5h-2V3h-3zM1 10h2v3h3v2H1zM13 10h2v5h-5v-2h3z',
  theme: 'M8 1a7 7 0 1 0 0 14A7 7 0 0 0 8 1zm0 2v10A5 5 0 0 1 8 3z',
  skein: 'M8 0l3 5-3 5-3-5zM3 8l3 4-3 4-3-4zM13 8l3 4-3 4-3-4z',
};
export function icon(name: keyof typeof icons): SVGElement {
  return svg('svg', { viewBox: '0 0 16 16', width: 13, height: 13, class: 'icon', 'aria-hidden': 'true' },
    svg('path', { d: icons[name], fill: 'currentColor', 'fill-rule': 'evenodd' }));
}

// A spot of colour before a name.
export function dot(colour: string): HTMLElement {
  const spot = h('span', { class: 'dot' });
  spot.style.background = colour;
  return spot;
}

export function replace(element: Element, ...children: Child[]): void {
  element.replaceChildren(...children.filter((c): c is Node | string => c !== null && c !== undefined));
}

// Okabe and Ito's colours, which people with any colour vision tell apart; dashes tell the second eight.
const light = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#7a6a00', '#4d4d4d'];
const dark = ['#4ba3dd', '#f0793a', '#22c197', '#e29cc4', '#f2b134', '#8fd0f5', '#e6dc5a', '#c4c4c4'];

export function isDark(): boolean {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
}
export function colour(index: number): string {
  return (isDark() ? dark : light)[index % 8];
}
export function dash(index: number): number[] {
  return [[], [6, 4], [2, 3], [9, 3, 2, 3]][Math.floor(index / 8) % 4];
}

// Viridis: grows in lightness, for any colour vision and in print.
const viridis = [
  [68, 1, 84], [71, 44, 122], [59, 81, 139], [44, 113, 142], [33, 144, 141],
  [39, 173, 129], [92, 200, 99], [170, 220, 50], [253, 231, 37],
];
export function scaleColour(share: number): string {
  const at = Math.min(1, Math.max(0, share)) * (viridis.length - 1);
  const i = Math.min(viridis.length - 2, Math.floor(at));
  const mix = (k: number) => Math.round(viridis[i][k] + (viridis[i + 1][k] - viridis[i][k]) * (at - i));
  return `rgb(${mix(0)},${mix(1)},${mix(2)})`;
}
// Text that can be read on it.
export function inkOn(share: number): string {
  return share > 0.55 ? '#111' : '#fff';
}

const themeColours = new Map<string, string>();
export function themeColour(name: string): string {
  let found = themeColours.get(name);
  if (found === undefined) {
    found = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
    themeColours.set(name, found);
  }
  return found;
}
export function forgetTheme(): void {
  themeColours.clear();
}

export function number(value: number, digits = 3): string {
  if (!Number.isFinite(value)) return '–';
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-3) return value.toExponential(Math.max(0, digits - 1)).replace('e+', 'e');
  if (size >= 1000) return Math.round(value).toLocaleString('en-US').replace(/,/g, '\u202f');
  return String(+value.toPrecision(digits));
}

// Least and greatest, of however many.
export function extremes(values: number[]): [number, number] {
  return values.reduce(([low, high], v) => [Math.min(low, v), Math.max(high, v)], [Infinity, -Infinity]);
}

export function clock(seconds: number): string {
  const s = Math.max(0, Math.round(seconds));
  const two = (x: number) => String(x).padStart(2, '0');
  return `${Math.floor(s / 3600)}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}`;
}

export function download(name: string, content: Blob | string, type = 'text/plain'): void {
  const blob = typeof content === 'string' ? new Blob([content], { type }) : content;
  const url = URL.createObjectURL(blob);
  const link = h('a', { href: url, download: name }) as HTMLAnchorElement;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

export function downloadSvgAsPng(name: string, text: string, width: number, height: number): void {
  const image = new Image();
  image.onload = () => {
    const canvas = h('canvas') as HTMLCanvasElement;
    canvas.width = 2 * width;
    canvas.height = 2 * height;
    canvas.getContext('2d')!.drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => blob && download(name, blob));
  };
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
}

export function fileName(...parts: string[]): string {
  return parts.join('-').toLowerCase().replace(/[^a-z0-9.]+/g, '-').replace(/^-|-$/g, '');
}
