/**
 * `npm test`: in one process the unit tests and those that serve from their own process, beside it
 * the tests that start services, a process per file. Arguments go to both; longer suites have
 * scripts of their own in package.json.
 */
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';

const units = ['src/**/*.test.ts', 'scripts/**/*.test.ts', 'ui/src/**/*.test.ts'];
/** In a process each, they would mostly load the same modules again. */
const inProcess = ['test/{directory,server}/**/*.test.ts'];
const longer = 'backup|bombs|explorer|metrics-promise|package|scaled|senders|workers';
const services = [`test/!(directory|server|${longer})/**/*.test.ts`];

/** Starting a process parses all sources otherwise. */
process.env['NODE_COMPILE_CACHE'] ??= `${process.cwd()}/node_modules/.cache/compile`;

function run(options: readonly string[]) {
  const args = ['--test', '--test-timeout=240000', ...process.argv.slice(2), ...options];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = Promise.withResolvers<number>();
  child.on('error', ended.reject);
  child.on('close', (code) => ended.resolve(code ?? 1));
  return { output: child.stdout, ended: ended.promise };
}

const sharedRun = run(['--test-isolation=none', ...units, ...inProcess]);
// One more than cores: services wait for disks and timers too.
const serviceRun = run([`--test-concurrency=${availableParallelism() + 1}`, ...services]);
serviceRun.output.pipe(process.stdout);
const chunks: Buffer[] = [];
sharedRun.output.on('data', (chunk: Buffer) => chunks.push(chunk));

const codes = await Promise.all([sharedRun.ended, serviceRun.ended]);
process.stdout.write(Buffer.concat([Buffer.from('\nTests in one process:\n'), ...chunks]));
process.exitCode = Math.max(...codes);
