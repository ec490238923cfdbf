/**
 * `npm run faults -- --sample N --match TEXT --rounds N --disk TEXT --seed S`: damages every kind
 * of file of a data folder in every way, and makes the disk of every folder full or fail, which
 * needs root. Prints tables in Markdown. Exits with 1 where anything was lost without a word, or
 * lost at all by a disk that is full or fails.
 */
import { parseArgs } from 'node:util';
import { createRandom } from '../harness/random.ts';
import { whyNoCutDisk } from '../power/cut-disk.ts';
import { runDamages } from './damage-table.ts';
import { runDiskFaults } from './disk-table.ts';

const { values } = parseArgs({
  options: {
    /** At most so many cases of damage; 0 for none. */
    sample: { type: 'string', default: '1000' },
    match: { type: 'string', default: '' },
    /** How often each fault of a disk is met; 0 for none. */
    rounds: { type: 'string', default: '1' },
    /** Part of the names of the disks' faults, as `engine full`. */
    disk: { type: 'string', default: '' },
    seed: { type: 'string', default: '1' },
  },
});
const seed = Number(values.seed);
const say = (row: string) => console.log(row);
const faults: string[] = [];

const sample = Number(values.sample);
if (sample > 0) {
  faults.push(
    ...(await runDamages({ random: createRandom(seed), sample, match: values.match, say })),
  );
}
const obstacle = Number(values.rounds) > 0 ? whyNoCutDisk('ext4') : undefined;
if (obstacle !== undefined) {
  console.error(`faults of disks: not run, since ${obstacle}`);
  if (process.env['WEIR_TEST_SERVERS'] === 'required') faults.push(obstacle);
} else if (Number(values.rounds) > 0) {
  faults.push(
    ...(await runDiskFaults({ rounds: Number(values.rounds), match: values.disk, seed, say })),
  );
}
for (const fault of faults.slice(0, 50)) console.error(fault);
console.log(`${faults.length} faults`);
process.exitCode = faults.length === 0 ? 0 : 1;
