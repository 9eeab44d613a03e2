// The pictures in docs/: node web/tests/screenshots.mjs RUN/report.html COMPARED/report.html [OUT]
// The first is the default mission's report, the second compares it with another run.
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const [mission, compared, out = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../docs')] = process.argv.slice(2);
const wide = { viewport: { width: 1440, height: 1000 } };
const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 };
const pictures = [
  { name: 'report', file: mission, share: 0.43, ...wide },
  { name: 'report-dark', file: mission, share: 0.71, ...wide, colorScheme: 'dark', keys: ['c', 's', 's'] },
  { name: 'report-phone', file: mission, share: 0.43, ...phone },
  { name: 'report-compared', file: compared, share: 0.43, ...wide, scroll: 640 },
];

const browser = await chromium.launch({
  executablePath: ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((p) => fs.existsSync(p)),
  args: ['--no-sandbox', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run'],
});
for (const { name, file, share, keys = [], scroll = 0, ...options } of pictures) {
  const page = await (await browser.newContext(options)).newPage();
  await page.goto(pathToFileURL(file).href);
  await page.locator('[data-chart=reward] .u-over').waitFor();
  const axis = await page.locator('.axis').boundingBox();
  await page.mouse.click(axis.x + axis.width * share, axis.y + 8);
  for (const key of keys) await page.keyboard.press(key);
  // To a global round: where swarms go by their own clocks, they are few seconds in many minutes.
  await page.locator('button', { hasText: '›' }).first().click();
  await page.evaluate((y) => scrollTo(0, y), scroll);
  await page.mouse.move(2, 2);
  await page.waitForTimeout(300);
  const to = path.join(out, `${name}.png`);
  await page.screenshot({ path: to });
  console.log(`${to}: ${(fs.statSync(to).size / 1e3).toFixed(0)} kB`);
}
await browser.close();
