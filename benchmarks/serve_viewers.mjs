// 200 viewers of a running mission: whether all get everything, and what it costs the mission.
//   node benchmarks/serve_viewers.mjs build/release/skein [VIEWERS [SEQUENCES [REPEATS]]]
// Runs the same mission alone and watched, in turns, and compares the medians of wall time and of the mission's own
// processor time. The mission has one thread: the viewers, which would be elsewhere, take the other cores.
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';

const [skein, viewers = 200, sequences = 400, repeats = 3] = process.argv.slice(2).map((word, i) => (i === 0 ? path.resolve(word) : Number(word)));
const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'skein-viewers-'));
const scenario = path.join(path.dirname(new URL(import.meta.url).pathname), '../scenarios/smoke.toml');
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

// bash's `time` tells the processor time of the mission alone.
function mission(name) {
  const out = path.join(directory, name);
  const words = ['run', scenario, '--quiet', '--out', out, '--set', `run.sequences=${sequences}`, '--set', 'data.points_per_device=200', '--set', 'data.buffer_points=400', '--set', 'planning.planner="beam"', '--threads', '1'];
  const command = `TIMEFORMAT='%R %U %S'; time '${skein}' ${words.map((w) => `'${w}'`).join(' ')}`;
  const child = spawn('bash', ['-c', command], { stdio: ['ignore', 'inherit', 'pipe'] });
  let said = '';
  child.stderr.on('data', (bytes) => (said += bytes));
  return { out, ended: new Promise((resolve, reject) => child.once('exit', (code) => {
    const [wall, user, system] = said.trim().split('\n').pop().split(' ').map(Number);
    if (code === 0) resolve({ wall, cpu: user + system });
    else reject(new Error(said));
  })) };
}

async function serve() {
  const child = spawn(skein, ['serve', directory, '--port', '0', '--format', 'json', '--viewers', String(viewers)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const line = await new Promise((resolve) => child.stdout.once('data', (bytes) => resolve(String(bytes))));
  return { child, address: JSON.parse(line).address };
}

function watch(address, name) {
  const seen = { events: 0, bytes: 0, finished: false, last: Date.now(), longestGap: 0 };
  const request = http.get(`${address}api/follow?name=${name}`, { agent: false }, (response) => {
    let tail = '';
    response.on('data', (bytes) => {
      const text = tail + bytes;
      seen.bytes += bytes.length;
      seen.events += text.split('event: ').length - 1;
      seen.finished ||= text.includes('summary.json');
      tail = text.slice(-16).includes('event: ') ? '' : text.slice(-16);
      const now = Date.now();
      seen.longestGap = Math.max(seen.longestGap, now - seen.last);
      seen.last = now;
    });
  });
  request.on('error', (error) => (seen.fault = error.message));
  return { seen, close: () => request.destroy() };
}

const server = await serve();
const [alone, watched] = [[], []];
let watchedSeconds = 0;
try {
  for (let i = 0; i < repeats; ++i) {
    alone.push(await mission(`alone-${i}`).ended);
    const run = mission(`watched-${i}`);
    while (!fs.existsSync(path.join(run.out, 'sequences.csv'))) await new Promise((r) => setTimeout(r, 20));
    const all = Array.from({ length: viewers }, () => watch(server.address, `watched-${i}`));
    watched.push(await run.ended);
    watchedSeconds += watched[i].wall;
    await new Promise((r) => setTimeout(r, 2000));
    const events = all.map((v) => v.seen.events);
    console.log(`watched ${i + 1}: ${watched[i].wall.toFixed(1)} s; viewers saw ${Math.min(...events)} to ${Math.max(...events)} changes, ` +
      `${all.filter((v) => v.seen.finished).length} of ${viewers} saw the end, longest wait ${Math.max(...all.map((v) => v.seen.longestGap))} ms`);
    for (const fault of new Set(all.map((v) => v.seen.fault).filter(Boolean))) console.log(`a viewer met: ${fault}`);
    for (const viewer of all) viewer.close();
    if (all.some((v) => !v.seen.finished || v.seen.events < 0.5 * Math.max(...events))) process.exitCode = 1;
  }
  const ticks = fs.readFileSync(`/proc/${server.child.pid}/stat`, 'utf8').split(' ');
  const perSecond = Number(spawnSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }).stdout);
  const ratio = (key) => median(watched.map((w) => w[key])) / median(alone.map((a) => a[key]));
  console.log(`alone ${alone.map((a) => a.wall.toFixed(1)).join(', ')} s; watched by ${viewers} for ${watchedSeconds.toFixed(0)} s: ${watched.map((w) => w.wall.toFixed(1)).join(', ')} s`);
  console.log(`wall time ${ratio('wall').toFixed(3)} of alone, processor time ${ratio('cpu').toFixed(3)} of alone; ` +
    `the server took ${((Number(ticks[13]) + Number(ticks[14])) / perSecond).toFixed(1)} s of processor time`);
} finally {
  server.child.kill();
  fs.rmSync(directory, { recursive: true, force: true });
}
