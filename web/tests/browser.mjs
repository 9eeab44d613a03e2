// The page in a real browser: node browser.mjs TEST SKEIN. Exit code 77 where there is no browser to run it in.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { strict as assert } from 'node:assert';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const skip = (why) => {
  console.log(`skipped: ${why}`);
  process.exit(77);
};
const test = process.argv[2];
const skein = path.resolve(process.argv[3]);
const source = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const browserPath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((p) => fs.existsSync(p));
if (!browserPath) skip('there is no chromium');
const { chromium } = await import('playwright-core').catch(() => skip('playwright-core is not installed'));

if (spawnSync(skein, ['report', '/'], { encoding: 'utf8' }).stderr.includes('the page is not built in')) skip('the page is not built in');

const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'skein-page-'));
const children = [];
const within = (...parts) => path.join(directory, ...parts);
const smoke = path.join(source, 'scenarios/smoke.toml');
// Plans have values, and nothing has to be trained first.
const planner = ['--set', 'planning.planner="beam"'];
const run = (...words) => execFileSync(skein, words, { cwd: directory, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });

async function serve(where, ...more) {
  const child = spawn(skein, ['serve', where, '--port', '0', '--format', 'json', ...more], { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  const line = await new Promise((resolve) => child.stdout.once('data', (bytes) => resolve(String(bytes))));
  return JSON.parse(line).address;
}

let browser;
// A page that fails the test if anything goes wrong on it.
async function open(address, options = {}) {
  browser ??= await chromium.launch({
    executablePath: browserPath,
    args: ['--no-sandbox', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run'],
  });
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, acceptDownloads: true, ...options });
  const page = await context.newPage();
  page.faults = [];
  page.on('console', (message) => ['error', 'warning'].includes(message.type()) && page.faults.push(message.text()));
  page.on('pageerror', (error) => page.faults.push(error.message));
  page.on('request', (request) => !request.url().startsWith(new URL(address).origin === 'null' ? 'file:' : new URL(address).origin) &&
    !/^(data|blob):/.test(request.url()) && page.faults.push(`asked for ${request.url()}`));
  await page.goto(address);
  return page;
}
const good = (page) => assert.deepEqual(page.faults, []);
const time = async (page) => Number(await page.locator('.axis').getAttribute('aria-valuenow'));
const seek = async (page, share) => {
  const box = await page.locator('.axis').boundingBox();
  await page.mouse.click(box.x + box.width * share, box.y + 8);
};
// What the map shows, as bytes.
const picture = (page) => page.locator('.map canvas').evaluate((canvas) => canvas.toDataURL());
const saved = async (page, button) => {
  const [download] = await Promise.all([page.waitForEvent('download'), button.click()]);
  return { name: download.suggestedFilename(), bytes: fs.readFileSync(await download.path()) };
};
// ms, of all processes below this one.
function processorTimes() {
  const all = new Map();
  for (const id of fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const fields = fs.readFileSync(`/proc/${id}/stat`, 'utf8').replace(/^.*\) /s, '').split(' ');
      all.set(Number(id), { parent: Number(fields[1]), ms: 10 * (Number(fields[11]) + Number(fields[12])) });
    } catch {
      // It has just ended.
    }
  }
  const ours = (id) => id === process.pid || (all.has(id) && all.get(id).parent > 1 && ours(all.get(id).parent));
  return new Map([...all].filter(([id]) => id !== process.pid && ours(id)).map(([id, { ms }]) => [id, ms]));
}
const firstPicture = (page) => page.evaluate(() => performance.getEntriesByName('first-picture')[0]?.startTime);
const report = (name, ...more) => {
  run('run', smoke, '--quiet', ...planner, '--set', 'run.sequences=4', '--out', within(name), ...more);
  return pathToFileURL(within(name, 'report.html')).href;
};

const tests = {
  async report() {
    const address = report('one');
    const page = await open(address);
    await page.locator('[data-chart=accuracy] .u-over').waitFor();
    assert.equal(await page.title(), 'smoke – Skein');
    // Every chart, with units on its axes.
    const charts = await page.locator('[data-chart]').evaluateAll((all) => all.map((c) => c.dataset.chart));
    for (const wanted of ['accuracy', 'gradient', 'energy', 'batteries', 'age', 'visits']) assert.ok(charts.includes(wanted), wanted);
    for (const id of charts) {
      const picture = String((await saved(page, page.locator(`[data-chart=${id}] [data-save=SVG]`))).bytes);
      assert.match(picture, /simulated time, (s|min|h)</, id);
      assert.match(picture, /rotate\(-90[^>]*>(accuracy, %|squared [^<]+|energy, kJ|age, sequences|site|Mbit|reward)</, id);
    }
    // Play moves time and picture; pause stops both.
    const before = await picture(page);
    await page.locator('.play').click();
    await page.waitForTimeout(400);
    await page.locator('.play').click();
    const played = await time(page);
    assert.ok(played > 0, 'time moves');
    assert.notEqual(await picture(page), before);
    await page.waitForTimeout(200);
    assert.equal(await time(page), played);
    // Scrub, keys, and a click on a chart.
    await seek(page, 0.5);
    const middle = await time(page);
    const end = Number(await page.locator('.axis').getAttribute('aria-valuemax'));
    assert.ok(Math.abs(middle / end - 0.5) < 0.02);
    await page.keyboard.press('End');
    assert.equal(await time(page), end);
    await page.keyboard.press('Home');
    assert.equal(await time(page), 0);
    await page.keyboard.press('Shift+ArrowRight');
    assert.ok((await time(page)) > 0);
    await page.keyboard.press('Space');
    await page.waitForTimeout(100);
    await page.keyboard.press('Space');
    const plot = await page.locator('[data-chart=energy] .u-over').boundingBox();
    await page.mouse.click(plot.x + plot.width * 0.25, plot.y + 40);
    assert.ok(Math.abs((await time(page)) / end - 0.25) < 0.03);
    // Colours of clusters.
    await seek(page, 0.9);
    const pictures = new Set();
    for (const colour of ['accuracy', 'drift', 'age']) {
      await page.locator(`[data-colour=${colour}]`).click();
      await page.waitForTimeout(80);
      pictures.add(await picture(page));
      assert.match(await page.locator('.map-card .legend').innerText(), new RegExp(colour));
    }
    assert.equal(pictures.size, 3);
    // Decisions of any swarm and round; the planner's alternatives; events; scenario; figures.
    const said = [];
    for (const swarm of ['0', '1']) {
      await page.locator('[aria-label="Swarm whose decision is shown"]').selectOption(swarm);
      await page.keyboard.press('Home');
      for (let i = 0; i < 3; ++i) {
        await page.locator('[aria-label^="Next global round"]').click();
        await page.waitForTimeout(60);
        if (await page.locator('.flow').count()) said.push(await page.locator('[data-panel=decision] .note').innerText());
      }
    }
    assert.ok(new Set(said).size >= 3, 'decisions of different rounds');
    assert.ok((await page.locator('.alternative').count()) >= 2);
    assert.equal(await page.locator('.alternative.chosen').count(), 1);
    assert.ok((await page.locator('.events tr').count()) > 3);
    assert.match(await page.locator('.scenario').innerText(), /\[world\.clusters\]/);
    const summary = JSON.parse(fs.readFileSync(within('one/summary.json')));
    assert.match(await page.locator('.figures').innerText(), new RegExp(`Visits to clusters\\s+${summary.visits}`));
    // Downloads.
    const chart = page.locator('[data-chart=accuracy]');
    const svg = await saved(page, chart.locator('[data-save=SVG]'));
    assert.equal(svg.name, 'smoke-accuracy.svg');
    assert.match(String(svg.bytes), /^<svg .*simulated time, min.*accuracy, %/s);
    const png = await saved(page, chart.locator('[data-save=PNG]'));
    assert.deepEqual([...png.bytes.subarray(1, 4)], [...Buffer.from('PNG')]);
    const csv = String((await saved(page, chart.locator('[data-save=CSV]'))).bytes).split('\n');
    assert.match(csv[0], /^time_s,"mean \(accuracy, %\)"/);
    const last = fs.readFileSync(within('one/sequences.csv'), 'utf8').trim().split('\n').pop().split(',');
    const fields = csv[csv.length - 2].split(',');
    assert.equal(Number(fields[0]), Number(last[2]));
    assert.ok(Math.abs(Number(fields[1]) - Number(last[8])) < 1e-9, 'the last mean is that of sequences.csv');
    for (const what of ['the decision as SVG', 'the map as PNG', 'the figures as CSV']) {
      assert.ok((await saved(page, page.locator(`[aria-label="Download ${what}"]`))).bytes.length > 100, what);
    }
    // Light and dark.
    const [light, dark] = [await page.evaluate(() => getComputedStyle(document.body).backgroundColor), await page.keyboard.press('d')
      .then(() => page.evaluate(() => getComputedStyle(document.body).backgroundColor))];
    assert.notEqual(light, dark);
    good(page);
    // A phone: nothing is wider than the screen.
    const phone = await open(address, { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true });
    await phone.locator('[data-chart=reward] .u-over').waitFor();
    assert.ok((await phone.evaluate(() => document.documentElement.scrollWidth)) <= 360);
    good(phone);
    // The first picture within a second; the best of some, as the machine may be busy.
    let best = Infinity;
    for (let i = 0; i < 4 && best > 1000; ++i) best = Math.min(best, await firstPicture(await open(address)));
    console.log(`first picture after ${best.toFixed(0)} ms`);
    assert.ok(best <= 1000);
  },

  async compare() {
    report('one');
    report('two', '--seed', '2');
    run('report', 'one', 'two', '--out', '.', '--quiet');
    const page = await open(pathToFileURL(within('report.html')).href);
    await page.locator('[data-chart=worst] .u-over').waitFor();
    assert.match(await page.locator('.state').innerText(), /2 runs compared/);
    const [one, two] = ['one', 'two'].map((name) => JSON.parse(fs.readFileSync(within(name, 'summary.json'))));
    const row = page.locator('.figures tr', { hasText: 'Simulated time' });
    const cells = (await row.locator('td').allInnerTexts()).map((t) => Number(t.split(' (')[0].replace(/[\u202f▲▼ ]/g, '')));
    const difference = (two.duration_s - one.duration_s) / 60;
    assert.ok(Math.abs(cells[3] - difference) <= Math.abs(difference) * 1e-3, `${cells[3]} is ${difference}`);
    assert.match(await page.locator('[data-chart=accuracy] .u-legend').innerText(), /one[\s\S]*two/);
    const before = await picture(page);
    await page.locator('[aria-label="Run shown on the map"]').selectOption('1');
    await page.waitForTimeout(150);
    assert.notEqual(await picture(page), before);
    good(page);
  },

  async serve() {
    report('runs/a');
    report('runs/deep/b', '--seed', '3');
    fs.cpSync(within('runs/a'), within('runs/broken'), { recursive: true });
    fs.writeFileSync(within('runs/broken/world.json'), '{"clusters": [');
    const page = await open(await serve(within('runs'), '--token'));
    assert.deepEqual((await page.locator('.runs tbody a').allInnerTexts()).sort(), ['a', 'broken', 'deep/b']);
    // A run that comes later is listed by itself, and what was ticked stays so.
    await page.locator('[aria-label="Compare a"]').check();
    fs.cpSync(within('runs/a'), within('runs/late'), { recursive: true });
    await page.locator('.runs a', { hasText: 'late' }).waitFor();
    assert.ok(await page.locator('[aria-label="Compare a"]').isChecked());
    await page.locator('.runs a', { hasText: 'deep/b' }).click();
    await page.locator('[data-chart=accuracy] .u-over').waitFor();
    await page.locator('.play').click();
    await page.waitForTimeout(200);
    assert.ok((await time(page)) > 0);
    await page.locator('.home').click();
    for (const name of ['a', 'deep/b']) await page.locator(`[aria-label="Compare ${name}"]`).check();
    await page.locator('button', { hasText: 'Compare' }).click();
    await page.locator('[data-chart=worst] .u-over').waitFor();
    await page.locator('.home').click();
    await page.locator('.runs a', { hasText: 'broken' }).click();
    assert.match(await page.locator('.fault').innerText(), /world\.json: is no JSON/);
    good(page);
  },

  // A mission with faults: who is lost is told, on the axis, in the list and in words.
  async faults() {
    const lost = ['1 worker 1.2', '2 leader 2', '2 worker 2.1', '2 worker 2.2', '2 coordinator 2.1'];
    const page = await open(report('one', '--set', `faults.list=${JSON.stringify(lost)}`));
    await page.locator('[data-chart=reward] .u-over').waitFor();
    await page.keyboard.press('End');
    await page.locator('[aria-label="Swarm whose decision is shown"]').selectOption('1');
    await page.locator('.note', { hasText: 'swarm 2 has no UAV left that could lead' }).waitFor();
    assert.match(await page.locator('.now-figures').innerText(), /1 lost/);
    const events = await page.locator('.events').innerText();
    assert.match(events, /worker 2 of swarm 1 has crashed/);
    assert.match(events, /swarm 2 is no more/);
    const batteries = String((await saved(page, page.locator('[data-chart=batteries] [data-save=CSV]'))).bytes).trim().split('\n');
    assert.match(batteries[0], /leader/);
    // A name hides its line, by keyboard too.
    const name = page.locator('[data-chart=accuracy] .u-series th').nth(1);
    await name.focus();
    await page.keyboard.press('Enter');
    await page.locator('[data-chart=accuracy] .u-series.u-off').waitFor();
    good(page);
  },

  // A hundred damaged runs, each shown or explained, none with an error.
  async malformed() {
    report('good');
    const names = ['scenario.toml', 'world.json', 'sequences.csv', 'clusters.csv', 'swarms.csv', 'energy.csv', 'events.jsonl', 'summary.json'];
    let state = 12345;
    const below = (n) => (state = (Math.imul(state, 1103515245) + 12345) >>> 0) % n;
    const replacements = ['nan', '-1', '1e999', '""', 'null', '[]', '{}', '\u0000', ',', '\n', '99999999', '<script>', '"x"', 'C:99'];
    for (let i = 0; i < 100; ++i) {
      const to = within('runs', `bad-${i}`);
      fs.mkdirSync(to, { recursive: true });
      for (const name of names) fs.copyFileSync(within('good', name), path.join(to, name));
      const file = path.join(to, names[i % names.length]);
      let text = fs.readFileSync(file, 'utf8');
      const kind = below(4);
      if (kind === 0 && i % names.length > 1) fs.rmSync(file);
      else {
        if (kind === 1) text = text.slice(0, below(text.length));
        for (let k = 0; k < 6 && kind > 1; ++k) {
          const at = below(text.length);
          text = text.slice(0, at) + replacements[below(replacements.length)] + text.slice(at + below(9));
        }
        fs.writeFileSync(file, text);
      }
    }
    const page = await open(await serve(within('runs')));
    let explained = 0;
    for (let i = 0; i < 100; ++i) {
      await page.evaluate((name) => (location.hash = `run=${name}`), `bad-${i}`);
      await page.waitForFunction((name) => document.querySelector('.fault') || document.querySelector('h1').textContent === name, `bad-${i}`);
      if (await page.locator('.fault').count()) {
        explained += 1;
        assert.ok((await page.locator('.fault p').first().innerText()).length > 10);
        await page.evaluate(() => document.querySelector('.fault').remove());
      } else {
        await page.keyboard.press('End');
      }
    }
    console.log(`${explained} of 100 runs are explained, the others are shown`);
    assert.ok(explained > 25);
    good(page);
  },

  // Follows a mission from its first sequence to its end.
  async live() {
    const child = spawn(skein, ['run', smoke, '--quiet', ...planner, '--set', 'run.sequences=60', '--out', within('runs/live')], { stdio: 'inherit' });
    children.push(child);
    const ended = new Promise((resolve) => child.once('exit', resolve));
    while (!fs.existsSync(within('runs/live/sequences.csv'))) await new Promise((r) => setTimeout(r, 10));
    const page = await open(`${await serve(within('runs'))}#run=live`);
    await page.locator('.live.on').waitFor();
    const seen = new Set();
    while (await page.locator('.live').isVisible()) {
      seen.add(await page.locator('.axis').getAttribute('aria-valuemax'));
      await page.waitForTimeout(50);
    }
    assert.equal(await ended, 0);
    console.log(`saw ${seen.size} states of the mission`);
    assert.ok(seen.size >= 3);
    assert.match(await page.locator('.clock').innerText(), /sequence 60 of 60/);
    assert.doesNotMatch(await page.locator('.state').innerText(), /not finished/);
    const summary = JSON.parse(fs.readFileSync(within('runs/live/summary.json')));
    assert.equal(Number(await page.locator('.axis').getAttribute('aria-valuemax')), Math.round(summary.duration_s));
    good(page);
  },

  // 300 clusters and 200 swarms: a real mission with the least of training, and a table in place of solved plans.
  async large() {
    const [swarms, clusters] = [200, 300];
    const table = (value) => [Array.from({ length: swarms }, () => new Array(clusters).fill(value))];
    fs.writeFileSync(within('tables.json'), JSON.stringify({ timings: [[4, 1, 2]], objective: table(100), training_energy_j: table(5000) }));
    const start = Date.now();
    run('run', smoke, '--quiet', '--out', within('large'), ...Object.entries({
      'run.sequences': 5, 'world.clusters.count': clusters, 'world.stations.count': 40, 'world.access_points.count': 12, 'swarms.count': swarms,
      'world.distance_m': '[300,20000]', 'swarms.types.worker.count': 3, 'swarms.types.coordinator.count': 2,
      'planning.planner': '"sequential"', 'planning.tables': JSON.stringify(within('tables.json')),
    }).flatMap(([key, value]) => ['--set', `${key}=${value}`]));
    console.log(`mission run in ${((Date.now() - start) / 1000).toFixed(0)} s, report of ${(fs.statSync(within('large/report.html')).size / 1e6).toFixed(1)} MB`);
    const page = await open(pathToFileURL(within('large/report.html')).href, { viewport: { width: 1280, height: 800 } });
    await page.locator('[data-chart=reward] .u-over').waitFor();
    await page.waitForTimeout(500);
    await page.keyboard.press('Space');
    // Processor time of the busiest of the browser's processes: what bounds the rate, however busy the machine is.
    let [rate, work, busiest] = [0, Infinity, Infinity];
    for (let i = 0; i < 5 && (rate < 30 || i < 2); ++i) {
      const before = processorTimes();
      const measured = await page.evaluate(async () => {
        const from = { ...window.skeinFrames, at: performance.now() };
        await new Promise((resolve) => setTimeout(resolve, 2500));
        const count = window.skeinFrames.count - from.count;
        return { count, rate: (1000 * count) / (performance.now() - from.at), work: (window.skeinFrames.scriptMs - from.scriptMs) / Math.max(1, count) };
      });
      const after = processorTimes();
      busiest = Math.min(busiest, Math.max(...[...after].map(([id, ms]) => ms - (before.get(id) ?? 0))) / Math.max(1, measured.count));
      rate = Math.max(rate, measured.rate);
      work = Math.min(work, measured.work);
      if ((await page.locator('.play').getAttribute('aria-label')) === 'Play') await page.keyboard.press('Space');
    }
    console.log(`${rate.toFixed(0)} frames/s on this machine as busy as it is; a frame takes ${work.toFixed(1)} ms of script, ` +
      `${busiest.toFixed(1)} ms of processor time in the busiest process`);
    assert.ok(busiest <= 1000 / 30);
    good(page);
  },
};

let code = 0;
try {
  await tests[test]();
  console.log(`${test}: passed`);
} catch (error) {
  console.error(String(error.stack).slice(0, 3000));
  code = 1;
} finally {
  await browser?.close();
  for (const child of children) child.kill();
  fs.rmSync(directory, { recursive: true, force: true });
}
process.exit(code);
