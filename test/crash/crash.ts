/** `npm run crash -- --kills N --seed S`: the crash test at any length, with its report. */
import { parseArgs } from 'node:util';
import { runCrashTest } from './run.ts';

const { values } = parseArgs({
  options: { kills: { type: 'string', default: '100' }, seed: { type: 'string' } },
});
const kills = Number(values.kills);
const seed = values.seed === undefined ? Date.now() % 2 ** 31 : Number(values.seed);

console.log(`seed ${seed}: npm run crash -- --kills ${kills} --seed ${seed}`);
const report = await runCrashTest({ kills, seed, say: (line) => console.log(line) });
console.log(JSON.stringify({ seed, ...report, faults: report.faults.length }, undefined, 2));
for (const fault of report.faults.slice(0, 50)) console.error(fault);
process.exitCode = report.faults.length === 0 && report.acknowledged > 0 ? 0 : 1;
