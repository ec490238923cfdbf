/**
 * `npm run demo-data -- [--data DIR] [--seed N] [--hours N] [--requests N]`: sends a day of a demo
 * shop to the Weir of that data directory, over its public addresses.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseOptions } from './script-options.ts';
import { type DemoTarget, sendDay } from './demo-data/send.ts';

const values = parseOptions(import.meta.url, {
  data: { type: 'string', default: process.env['WEIR_DATA'] ?? 'data' },
  seed: { type: 'string', default: '1' },
  hours: { type: 'string', default: '24' },
  requests: { type: 'string', default: '8000' },
});

const startedAt = performance.now();
const quickstart = readQuickstart(values.data);
const { logs, samples } = await sendDay(quickstart, {
  seed: toCount('seed', values.seed, 0xffff_ffff),
  hours: toCount('hours', values.hours, 24 * 14),
  requests: toCount('requests', values.requests, 200_000),
  untilMs: Date.now(),
});
const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
process.stdout.write(
  `sent ${logs} logs and ${samples} samples in ${seconds} s; look at ${quickstart.streamUrl}\n`,
);

function readQuickstart(data: string): DemoTarget & { readonly streamUrl: string } {
  const file = join(data, 'quickstart.json');
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    throw new Error(`cannot read ${file}: start Weir with npm start, or give --data`, { cause });
  }
  const { caFile, ...rest } = JSON.parse(text) as DemoTarget & {
    readonly streamUrl: string;
    readonly caFile?: string;
  };
  return { ...rest, ca: caFile === undefined ? undefined : readFileSync(caFile, 'utf8') };
}

function toCount(option: string, text: string, max: number): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1 && count <= max) return count;
  throw new Error(`cannot use --${option} ${text}: give a whole number, 1 to ${max}`);
}
