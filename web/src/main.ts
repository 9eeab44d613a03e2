// Where the page begins: with runs inside it (a report), or at a server that has them (skein serve).

import 'uplot/dist/uPlot.min.css';
import './style.css';
import { forgetTheme, h, icon, isDark, replace } from './dom';
import { RunFiles } from './files';
import { Mission } from './mission';
import { frames, MissionPage } from './mission_page';
import { readMission } from './read_mission';

declare global {
  interface Window {
    skeinFrames: typeof frames;
  }
}
window.skeinFrames = frames;

const app = document.getElementById('app')!;
const title = h('h1', {}, 'Skein');
const state = h('span', { class: 'state' });
const themeButton = h('button', { title: 'Light or dark (d)', 'aria-label': 'Light or dark' }, icon('theme'));
const helpButton = h('button', { title: 'Keys (?)', 'aria-label': 'Keys' }, '?');
const home = h('a', { href: '#', class: 'home', hidden: true }, '‹ all runs');
const body = h('div', { class: 'body' });
const foot = h('footer');
const help = h('dialog', { class: 'help' },
  h('h2', {}, 'Keys'),
  h('dl', {}, ...[
    ['space', 'play, pause'], ['← →', 'earlier, later; with shift by sequences'], ['↑ ↓', 'faster, slower'], ['Home, End', 'start, end'],
    [', .', 'global round before, after'], ['s, n', 'next swarm, next cluster'], ['c', 'colour of clusters'], ['+ − 0', 'zoom the map, whole map'],
    ['l', 'follow a running mission'], ['d', 'light, dark'], ['Esc', 'select nothing'],
  ].flatMap(([key, what]) => [h('dt', {}, key), h('dd', {}, what)])),
  h('p', {}, 'Click a chart to go to that time; drag on one to zoom in, double-click to zoom out. Click a line’s name to hide it.'),
  h('form', { method: 'dialog' }, h('button', {}, 'Close'))) as HTMLDialogElement;

let page: MissionPage | null = null;

function fault(...messages: string[]): void {
  closePage();
  replace(body, h('section', { class: 'card fault', role: 'alert' }, h('h2', {}, 'This cannot be shown'), ...messages.map((m) => h('p', {}, m))));
}

function closePage(): void {
  page?.close();
  page?.timeline.element.remove();
  page = null;
}

// Missions of these files; what is wrong with one is told, and the others are shown.
function readAll(runs: RunFiles[]): Mission[] {
  const messages: string[] = [];
  const missions: Mission[] = [];
  for (const run of runs) {
    try {
      missions.push(readMission(run));
    } catch (error) {
      messages.push(`${run.name || 'run'}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  if (missions.length === 0) {
    fault(...(messages.length > 0 ? messages : ['There is no run here.']));
    return [];
  }
  missions[0].warnings.unshift(...messages);
  return missions;
}

function showMissions(missions: Mission[], fresh: boolean): void {
  if (missions.length === 0) return;
  try {
    if (!page || fresh) {
      closePage();
      page = new MissionPage();
      replace(body, page.element);
      app.append(page.timeline.element);
      page.show(missions, true);
    } else {
      page.show(missions, false);
    }
  } catch (error) {
    fault(`The files of this run do not fit together: ${error instanceof Error ? error.message : String(error)}`);
    return;
  }
  const names = missions.map((m) => m.name).join(' · ');
  title.textContent = names;
  document.title = `${names} – Skein`;
  const first = missions[0];
  state.textContent = missions.length > 1
    ? `${missions.length} runs compared`
    : `${first.world.swarms.length} swarms, ${first.world.clusters.length} clusters, planner ${first.planner}${first.finished ? '' : ' · not finished'}`;
}

function setTheme(dark: boolean): void {
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
  forgetTheme();
  page?.retheme();
}

function setUp(): void {
  replace(app, h('header', { class: 'top' }, h('span', { class: 'brand', 'aria-hidden': 'true' }, icon('skein')), home, title, state,
    h('span', { class: 'tools' }, themeButton, helpButton)), body, foot, help);
  themeButton.addEventListener('click', () => setTheme(!isDark()));
  helpButton.addEventListener('click', () => help.showModal());
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
    forgetTheme();
    page?.retheme();
  });
  addEventListener('keydown', (event) => {
    const target = event.target as Element;
    if (event.ctrlKey || event.metaKey || event.altKey || help.open || /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName)) return;
    if (target.matches('button, a, [role=button]') && (event.key === ' ' || event.key === 'Enter')) return;
    if (target.classList.contains('scroll') && /^Arrow/.test(event.key)) return;
    if (event.key === 'd') setTheme(!isDark());
    else if (event.key === '?') help.showModal();
    else if (!page?.key(event)) return;
    event.preventDefault();
  });
}

// --- skein serve ---

interface Listed {
  name: string;
  finished: boolean;
  seconds_since_written: number;
}

let source: EventSource | null = null;

async function ask(path: string): Promise<Record<string, unknown>> {
  const response = await fetch(path);
  const content = (await response.json()) as Record<string, unknown>;
  if (!response.ok) throw new Error(String(content.message ?? response.status));
  return content;
}

function ago(seconds: number): string {
  if (seconds < 0) return '–';
  if (seconds < 90) return `${Math.round(seconds)} s ago`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min ago`;
  return seconds < 129600 ? `${Math.round(seconds / 3600)} h ago` : `${Math.round(seconds / 86400)} days ago`;
}

// The list, and again every few seconds, as runs come and go on.
const listPeriod = 3000; // ms
const chosen = new Set<string>();
let listTimer = 0;

async function showList(shown = ''): Promise<void> {
  const answer = await ask('/api/runs');
  if (location.hash.length > 1) return; // somebody has left meanwhile
  const runs = answer.runs as Listed[];
  runs.sort((a, b) => (a.seconds_since_written < 0 ? 1e12 : a.seconds_since_written) - (b.seconds_since_written < 0 ? 1e12 : b.seconds_since_written));
  const now = JSON.stringify(runs.map((run) => [run.name, run.finished]));
  if (now !== shown) drawList(runs, String(answer.version));
  else runs.forEach((run, i) => (body.querySelectorAll('.written')[i].textContent = ago(run.seconds_since_written)));
  listTimer = setTimeout(() => void showList(now).catch(() => fault('The server does not answer any more.')), listPeriod);
}

function drawList(runs: Listed[], version: string): void {
  closePage();
  title.textContent = 'Skein';
  document.title = 'Skein';
  state.textContent = `${runs.length} run${runs.length === 1 ? '' : 's'}`;
  foot.textContent = `Skein ${version}`;
  for (const name of chosen) if (!runs.some((run) => run.name === name)) chosen.delete(name);
  const compare = h('button', { class: 'primary', disabled: chosen.size < 2, click: () => (location.hash = [...chosen].map((n) => `run=${encodeURIComponent(n)}`).join('&')) }, 'Compare') as HTMLButtonElement;
  const row = (run: Listed) => {
    const box = h('input', { type: 'checkbox', 'aria-label': `Compare ${run.name}`, checked: chosen.has(run.name) }) as HTMLInputElement;
    box.addEventListener('change', () => {
      if (box.checked) chosen.add(run.name);
      else chosen.delete(run.name);
      compare.disabled = chosen.size < 2;
    });
    return h('tr', {}, h('td', {}, box), h('td', {}, h('a', { href: `#run=${encodeURIComponent(run.name)}` }, run.name)),
      h('td', {}, run.finished ? 'finished' : h('span', { class: 'running' }, '● running or stopped')),
      h('td', { class: 'written' }, ago(run.seconds_since_written)));
  };
  replace(body, h('section', { class: 'card list' },
    h('header', {}, h('h2', {}, 'Runs'), h('span', { class: 'note' }, 'Tick two or more to compare them.'), h('span', { class: 'tools' }, compare)),
    runs.length === 0
      ? h('p', {}, 'There are no runs here yet. `skein run` makes one; this page then shows it.')
      : h('table', { class: 'runs' }, h('thead', {}, h('tr', {}, ...['', 'Run', 'State', 'Written'].map((t) => h('th', {}, t)))), h('tbody', {}, ...runs.map(row)))));
}

// Files that grow by what the server tells.
function follow(run: RunFiles): void {
  const stream = new EventSource(`/api/follow?name=${encodeURIComponent(run.name)}`);
  source = stream;
  const update = () => {
    showMissions(readAll([run]), page === null);
    if (run.files['summary.json']) stream.close();
  };
  stream.addEventListener('run', (event) => {
    Object.assign(run, JSON.parse((event as MessageEvent<string>).data));
    update();
  });
  stream.addEventListener('change', (event) => {
    const { changes, faults } = JSON.parse((event as MessageEvent<string>).data) as {
      changes: { file: string; text?: string; added?: string }[];
      faults: string[];
    };
    for (const change of changes) {
      if (change.text === '') delete run.files[change.file];
      else run.files[change.file] = change.text ?? (run.files[change.file] ?? '') + change.added;
    }
    run.faults = faults;
    update();
  });
}

async function route(): Promise<void> {
  source?.close();
  source = null;
  clearTimeout(listTimer);
  const names = new URLSearchParams(location.hash.slice(1)).getAll('run');
  home.hidden = names.length === 0;
  try {
    if (names.length === 0) {
      await showList();
      return;
    }
    const runs = await Promise.all(names.map((name) => ask(`/api/run?name=${encodeURIComponent(name)}`)));
    const files = runs as unknown as (RunFiles & { finished: boolean })[];
    showMissions(readAll(files), true);
    if (files.length === 1 && !files[0].finished) follow(files[0]);
  } catch (error) {
    fault(error instanceof Error ? error.message : String(error));
  }
}

setUp();
const data = document.getElementById('data');
if (data) {
  const { runs, version } = JSON.parse(data.textContent ?? '{}') as { runs: RunFiles[]; version: string };
  data.remove();
  foot.textContent = `Skein ${version}`;
  showMissions(readAll(runs), true);
} else {
  addEventListener('hashchange', () => void route());
  void route();
}
