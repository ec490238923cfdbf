/**
 * `node bench/explorer/explorer.ts`: the explorer in Debian's chromium on a real service: first
 * paint, size, scrolling through 100,000 rows, and latency of the live tail. Prints p50 / p99 /
 * max. `--rows N` makes it smaller.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { parseOptions } from '../../scripts/script-options.ts';
import type { Page } from 'playwright-core';
import { type Explorer, startExplorer } from '../../test/explorer/explorer.ts';
import { until } from '../../test/harness/until.ts';
import { type Percentiles, percentilesOf } from '../percentiles.ts';
import { type FrameFigures, installMeter, measureFrames } from './frames.ts';

const values = parseOptions(import.meta.url, { rows: { type: 'string', default: '100000' } });
const rows = Number(values.rows);
const viewport = { width: 1280, height: 800 };

const explorer = await startExplorer();
try {
  await measurePaint(explorer);
  await send(explorer, rows);
  const { page } = await explorer.open('/explore/logs?range=6h', { viewport });
  await page.getByRole('row').nth(1).waitFor();
  await installMeter(page);
  await measureScrolling(page);
  await measureTail(explorer, page);
} finally {
  await explorer.close();
}

/** A new browser profile each time. */
async function measurePaint(cold: Explorer): Promise<void> {
  const paints: number[] = [];
  let bytes = 0;
  for (let visit = 0; visit < 10; visit += 1) {
    const { page, close } = await cold.visit('/explore/logs', { viewport });
    await page.getByLabel('Access token').waitFor();
    paints.push(await firstPaint(page));
    bytes = await packedBytes(page);
    await close();
  }
  printTimes('first paint, cold', percentilesOf(paints));
  print('first paint, gzipped', `${(bytes / 1000).toFixed(0)} kB`);
  const { page, close } = await cold.open('/explore/logs', { viewport });
  await page.getByRole('region', { name: 'Logs', exact: true }).waitFor();
  print('page of logs, gzipped', `${((await packedBytes(page)) / 1000).toFixed(0)} kB`);
  await close();
}

/** ms since navigation; reported by the browser afterwards. */
async function firstPaint(page: Page): Promise<number> {
  const entry = await page.waitForFunction(
    () => performance.getEntriesByName('first-contentful-paint')[0]?.startTime,
  );
  return Number(await entry.jsonValue());
}

/** Scripts and styles loaded so far. */
async function packedBytes(page: Page): Promise<number> {
  const paths = await page.evaluate(() =>
    performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname),
  );
  const dist = fileURLToPath(new URL('../../ui/dist', import.meta.url));
  const assets = [...new Set(paths)].filter((path) => path.startsWith('/assets/'));
  return assets.reduce((sum, path) => sum + gzipSync(readFileSync(dist + path)).length, 0);
}

async function send({ service }: Explorer, count: number): Promise<void> {
  const batch = 5000;
  const now = Date.now() - 60_000;
  for (let from = 0; from < count; from += batch) {
    const logs = Array.from({ length: Math.min(batch, count - from) }, (_, index) =>
      toLog(from + index, now),
    );
    const answer = await service.postLogs(logs);
    if (answer.status !== 202) throw new Error(`cannot send logs: ${answer.text}`);
  }
  const range = { startTime: now - 6 * 3_600_000, endTime: now + 1000, buckets: 1 };
  await until(async () => (await service.histogram(range)).total === count, { what: 'all logs' });
}

function toLog(index: number, newestMs: number) {
  return {
    message:
      `GET /api/v1/orders/${index} 200 in ${index % 300} ms from 10.0.${index % 255}.7 ` +
      `agent=Mozilla/5.0 request=${(index * 7919).toString(16)}`,
    severity: ['INFO', 'INFO', 'WARN', 'ERROR', 'DEBUG'][index % 5],
    service_name: ['orders', 'checkout', 'payments-api'][index % 3],
    host: `node-${index % 9}`,
    timestamp: new Date(newestMs - index * 20).toISOString(),
    labels: { region: 'eu-west-1', customer: `${index % 977}`, version: '1.2.3', status: '200' },
  };
}

async function measureScrolling(page: Page): Promise<void> {
  const startedAt = performance.now();
  printFrames('loading all while scrolling', await measureFrames(page, () => loadAll(page)));
  print('loaded', `${rows} in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
  await page.getByRole('grid').evaluate((grid) => grid.scrollTo(0, 0));
  const steps: readonly (readonly [string, number])[] = [
    ['120 px a frame', 120],
    ['6,000 px a frame', 6000],
  ];
  for (const [name, pixels] of steps) {
    printFrames(name, await measureFrames(page, () => scroll(page, { pixels, frames: 300 })));
  }
  printFrames('jumps anywhere', await measureFrames(page, () => jump(page, 150)));
  printFrames('wheel', await measureFrames(page, () => turnWheel(page, 150)));
  const heap = await page.evaluate(
    () => (performance as unknown as { memory: { usedJSHeapSize: number } }).memory.usedJSHeapSize,
  );
  print('heap', `${(heap / 1_000_000).toFixed(0)} MB`);
}

async function loadAll(page: Page): Promise<void> {
  const grid = page.getByRole('grid');
  const isAll = async () => Number(await grid.getAttribute('aria-rowcount')) > rows;
  while (!(await isAll())) await grid.evaluate((list) => list.scrollTo(0, list.scrollHeight));
}

function scroll(page: Page, { pixels, frames }: { pixels: number; frames: number }): Promise<void> {
  return page.getByRole('grid').evaluate(
    async (grid, by) => {
      for (let frame = 0; frame < by.frames; frame += 1) {
        grid.scrollTop += by.pixels;
        await new Promise(requestAnimationFrame);
      }
    },
    { pixels, frames },
  );
}

function jump(page: Page, jumps: number): Promise<void> {
  return page.getByRole('grid').evaluate(async (grid, count) => {
    for (let index = 0; index < count; index += 1) {
      // Positions spread by the golden ratio: the same in each run.
      grid.scrollTop = ((index * 0.618_034) % 1) * grid.scrollHeight;
      await new Promise(requestAnimationFrame);
    }
  }, jumps);
}

async function turnWheel(page: Page, turns: number): Promise<void> {
  await page.mouse.move(700, 600);
  for (let turn = 0; turn < turns; turn += 1) await page.mouse.wheel(0, 300);
}

/** From the acknowledgement to the visible row. */
async function measureTail({ service }: Explorer, page: Page): Promise<void> {
  await page.goto(`${service.quickstart.streamUrl}/explore/logs?live=1`);
  await page.getByRole('status').getByText('Live', { exact: true }).waitFor();
  await page.getByRole('row').nth(1).waitFor();
  const times: number[] = [];
  for (let sample = 0; sample < 30; sample += 1) {
    const message = `probe ${sample} of the tail`;
    await service.postLogs({ message });
    const acknowledgedAt = performance.now();
    await page.getByRole('gridcell', { name: message, exact: true }).waitFor();
    times.push(performance.now() - acknowledgedAt);
  }
  printTimes('202 to visible in the tail', percentilesOf(times));
}

function printFrames(what: string, { ms, slow, longestTaskMs }: FrameFigures): void {
  const times = `${ms.p50.toFixed(0)} / ${ms.p99.toFixed(0)} / ${ms.max.toFixed(0)} ms`;
  const long = longestTaskMs.toFixed(0);
  print(`frames, ${what}`, `${times} of ${ms.count}, ${slow} over 50 ms, longest task ${long} ms`);
}

function printTimes(what: string, { p50, p99, max }: Percentiles): void {
  print(what, `${p50.toFixed(0)} / ${p99.toFixed(0)} / ${max.toFixed(0)} ms`);
}

function print(what: string, figure: string): void {
  console.log(`${what.padEnd(36)} ${figure}`);
}
