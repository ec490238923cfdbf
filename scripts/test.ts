/**
 * `npm test`: unit tests in one process, tests of one shared service in another, and all others in
 * a process per file. Arguments go to each; longer suites are scripts of their own in package.json.
 */
import { spawn } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

const longer = 'backup|bombs|explorer|metrics-promise|package|scaled|senders|workers';
/** Without a service. In a process each, they would mostly load the same modules again. */
const units = ['src', 'scripts', 'ui/src', 'test/directory', 'test/server'];
const unitFiles = units.map((folder) => `${folder}/**/*.test.ts`);
const serviceFiles = globSync(`test/!(directory|server|${longer})/**/*.test.ts`).sort();
/** Of one service, see test/harness/joined-service.ts. */
const joinedFiles = serviceFiles.filter((file) =>
  readFileSync(file, 'utf8').includes(' joinService('),
);
const ownFiles = serviceFiles.filter((file) => !joinedFiles.includes(file));

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

const oneProcess = '--test-isolation=none';
const buffered = [run([oneProcess, ...joinedFiles]), run([oneProcess, ...unitFiles])];
const own = run([`--test-concurrency=${availableParallelism()}`, ...ownFiles]);
own.output.pipe(process.stdout);
const outputs = buffered.map(async ({ output }) => Buffer.concat(await output.toArray()));

const codes = await Promise.all([own, ...buffered].map(({ ended }) => ended));
process.stdout.write('\nTests of one service, and unit tests:\n');
for (const output of await Promise.all(outputs)) process.stdout.write(output);
process.exitCode = Math.max(...codes);
