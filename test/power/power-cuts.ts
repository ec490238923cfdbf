/**
 * `npm run power-cuts -- --cuts N --seed S --fs ext4`: cuts the power of a disk under load by
 * senders of every protocol, and compares their ledgers with the stored events. Also on xfs, btrfs,
 * and LazyFS with the path of its binary in LAZYFS. Needs Linux and root; otherwise it prints why
 * and exits with 0, or with 1 if WEIR_TEST_SERVERS is `required`.
 */
import { parseOptions } from '../../scripts/script-options.ts';
import { runCrashTest } from '../crash/run.ts';
import { createRandom } from '../harness/random.ts';
import { type FileSystemName, whyNoCutDisk } from './cut-disk.ts';
import { openPowerStage } from './power-stage.ts';

const values = parseOptions(import.meta.url, {
  cuts: { type: 'string', default: '20' },
  seed: { type: 'string' },
  fs: { type: 'string', default: 'ext4' },
  workers: { type: 'string', default: '1' },
});
const cuts = Number(values.cuts);
const seed = values.seed === undefined ? Date.now() % 2 ** 31 : Number(values.seed);
const fileSystem = values.fs as FileSystemName;

const obstacle = whyNoCutDisk(fileSystem);
if (obstacle === undefined) await run();
else refuse(obstacle);

function refuse(reason: string): void {
  console.error(`power cuts: not run, since ${reason}`);
  process.exitCode = process.env['WEIR_TEST_SERVERS'] === 'required' ? 1 : 0;
}

/** One directory after the other, each new and with several cuts. */
async function run(): Promise<void> {
  const random = createRandom(seed);
  const sum = { directories: 0, cuts: 0, acknowledged: 0, unanswered: 0, unansweredStored: 0 };
  const moments: Record<string, number> = {};
  const faults: string[] = [];
  console.log(`npm run power-cuts -- --cuts ${cuts} --seed ${seed} --fs ${fileSystem}`);
  const startedAt = performance.now();
  while (sum.cuts < cuts) {
    const directory = ++sum.directories;
    const say = (line: string) => console.log(`directory ${directory}: ${line}`);
    const kills = Math.min(cuts - sum.cuts, random.integer(1, 8));
    const hasOldPartsGrace = random.next() < 0.3;
    const flags = ['--workers', values.workers];
    const stage = await openPowerStage({ fileSystem, flags, hasOldPartsGrace });
    const found: string[] = [];
    sum.cuts += kills;
    try {
      const report = await runCrashTest({ stage, kills, seed: random.integer(0, 2 ** 31), say });
      sum.acknowledged += report.acknowledged;
      sum.unanswered += report.unanswered;
      sum.unansweredStored += report.unansweredStored;
      found.push(...report.faults);
    } catch (error) {
      found.push(`it came to an early end: ${String(error)}`);
    }
    found.push(...stage.faults);
    for (const [name, count] of Object.entries(stage.cuts)) {
      moments[name] = (moments[name] ?? 0) + count;
    }
    for (const fault of found.slice(0, 20)) console.error(fault);
    if (found.length > 0) say(`${found.length} faults`);
    faults.push(...found);
  }
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  const report = { seed, fileSystem, ...sum, moments, seconds, faults: faults.length };
  console.log(JSON.stringify(report, undefined, 2));
  process.exitCode = faults.length === 0 && sum.acknowledged > 0 ? 0 : 1;
}
