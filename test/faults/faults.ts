/**
 * `npm run faults -- --sample N --match TEXT --rounds N --disk TEXT --seed S`: damages every kind
 * of file of a data directory in every way, and fills or fails the disk of each folder (needs
 * root). Prints Markdown tables. Exits with 1 on unreported damage, or on any loss by a full or
 * failing disk.
 */
import { parseOptions } from '../../scripts/script-options.ts';
import { createRandom } from '../harness/random.ts';
import { whyNoCutDisk } from '../power/cut-disk.ts';
import { runDamages } from './damage-table.ts';
import { runDiskFaults } from './disk-table.ts';

const values = parseOptions(import.meta.url, {
  /** Maximum of damage cases; 0 = none. */
  sample: { type: 'string', default: '1000' },
  match: { type: 'string', default: '' },
  /** Rounds of disk faults; 0 = none. */
  rounds: { type: 'string', default: '1' },
  /** Part of the names of disk faults, such as `engine full`. */
  disk: { type: 'string', default: '' },
  seed: { type: 'string', default: '1' },
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
