/**
 * `npm run crash -- --kills N --seed S --set scaled`: the crash test at any length, with its
 * report, on one process (with `--workers N`: and its workers) or on the scaled-out set.
 */
import { parseArgs } from 'node:util';
import { runCrashTest } from './run.ts';
import { openScaledStage } from './scaled-stage.ts';
import { openSingleStage } from './single-stage.ts';
import { openWorkersStage } from './workers-stage.ts';

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '100' },
    seed: { type: 'string' },
    set: { type: 'string', default: 'single' },
    workers: { type: 'string', default: '1' },
  },
});
const kills = Number(values.kills);
const seed = values.seed === undefined ? Date.now() % 2 ** 31 : Number(values.seed);

const again = Object.entries({ ...values, kills, seed }).map(
  ([name, value]) => `--${name} ${value}`,
);
console.log(`seed ${seed}: npm run crash -- ${again.join(' ')}`);
const workers = Number(values.workers);
const openLocalStage = () => (workers > 1 ? openWorkersStage(workers) : openSingleStage());
const stage = values.set === 'scaled' ? await openScaledStage() : await openLocalStage();
const report = await runCrashTest({ stage, kills, seed, say: (line) => console.log(line) });
console.log(JSON.stringify({ seed, ...report, faults: report.faults.length }, undefined, 2));
for (const fault of report.faults.slice(0, 50)) console.error(fault);
process.exitCode = report.faults.length === 0 && report.acknowledged > 0 ? 0 : 1;
