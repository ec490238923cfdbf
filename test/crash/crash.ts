/**
 * `npm run crash -- --kills N --seed S --set single|scaled --workers N --minutes M --ledger FILE`:
 * crash test of any length, in slices with a new data directory each. Stops between slices on
 * SIGINT or after M minutes; with FILE it resumes until the sum reaches N.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseOptions } from '../../scripts/script-options.ts';
import { createRandom } from '../harness/random.ts';
import { createFakeClock } from './fake-clock.ts';
import { runCrashTest } from './run.ts';
import { openScaledStage } from './scaled-stage.ts';
import { openSingleStage } from './single-stage.ts';
import type { Stage } from './stage.ts';
import { addUp, readSlices, toFailedSlice, toSlice, writeSlices } from './sums.ts';
import { openWorkersStage } from './workers-stage.ts';

const values = parseOptions(import.meta.url, {
  kills: { type: 'string', default: '100' },
  slice: { type: 'string', default: '100' },
  seed: { type: 'string' },
  set: { type: 'string', default: 'single' },
  workers: { type: 'string', default: '1' },
  minutes: { type: 'string', default: '100000' },
  ledger: { type: 'string' },
});
/** Consecutive slices without a verdict. */
const maxFailures = 3;
const seed = values.seed === undefined ? Date.now() % 2 ** 31 : Number(values.seed);
const random = createRandom(seed);
const set = values.workers === '1' ? values.set : `${values.workers} workers`;
const deadline = performance.now() + Number(values.minutes) * 60_000;
let isStopping = false;
process.once('SIGINT', () => (isStopping = true));

const again = Object.entries({ ...values, seed }).map(([name, value]) => `--${name} ${value}`);
console.log(`npm run crash -- ${again.join(' ')}`);

const slices = readSlices(values.ledger);
while (!isStopping && performance.now() < deadline) {
  const left = Number(values.kills) - addUp(slices).kills;
  if (left <= 0) break;
  slices.push(await runSlice(Math.min(left, Number(values.slice)), random.integer(0, 2 ** 31)));
  if (values.ledger !== undefined) writeSlices(values.ledger, slices);
  console.log(JSON.stringify(addUp(slices)));
  const newest = slices.slice(-maxFailures);
  if (newest.filter(({ failure }) => failure !== undefined).length === maxFailures) break;
}
const { acknowledged, lost, doubled, invented, failures } = addUp(slices);
process.exitCode = acknowledged > 0 && lost + doubled + invented + failures === 0 ? 0 : 1;

async function runSlice(kills: number, sliceSeed: number) {
  const folder = mkdtempSync(join(tmpdir(), 'weir-crash-'));
  try {
    const stage = await openStage(folder, sliceSeed);
    const say = (line: string) => console.log(line);
    const report = await runCrashTest({ stage, kills, seed: sliceSeed, say });
    for (const fault of report.faults.slice(0, 50)) console.error(fault);
    return toSlice(set, sliceSeed, report);
  } catch (error) {
    console.error(error);
    return toFailedSlice(set, sliceSeed, error);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Every third slice has clock jumps. */
function openStage(folder: string, sliceSeed: number): Promise<Stage> {
  if (values.set === 'scaled') return openScaledStage();
  const clock = sliceSeed % 3 === 0 ? openClock(folder) : undefined;
  const workers = Number(values.workers);
  return workers > 1 ? openWorkersStage(workers, { clock }) : openSingleStage({ clock });
}

function openClock(folder: string) {
  const clock = createFakeClock(folder);
  if (clock !== undefined) return clock;
  const reason = 'libfaketime is not installed (Debian: faketime)';
  if (process.env['WEIR_TEST_SERVERS'] === 'required') throw new Error(reason);
  console.log(`the clock does not jump: ${reason}`);
  return undefined;
}
