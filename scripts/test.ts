/**
 * `npm test`: unit tests in one process, tests of one shared service in another, and all others in
 * a process per file. Longer suites are scripts of their own in package.json. Arguments go to each
 * process, as options of `node --test`: `npm test -- --test-name-pattern=alerts`.
 */
import { spawn } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { passedArguments } from './script-options.ts';

const given = passedArguments(import.meta.url);
const longer = 'backup|bombs|explorer|metrics-promise|package|scaled|senders|workers';
const unitFiles = ['{src,scripts,bench,ui/src}/**/*.test.ts'];
/** Without a service. In a process each, they would mostly load the same modules again. */
const edgeFiles = ['test/{directory,server}/**/*.test.ts'];
const serviceFiles = globSync(`test/!(directory|server|${longer})/**/*.test.ts`).sort();
/** Of one service, see test/harness/joined-service.ts. */
const joinedFiles = serviceFiles.filter((file) =>
  readFileSync(file, 'utf8').includes(' joinService('),
);
const ownFiles = serviceFiles.filter((file) => !joinedFiles.includes(file));

/** Starting a process parses all sources otherwise. */
process.env['NODE_COMPILE_CACHE'] ??= `${process.cwd()}/node_modules/.cache/compile`;

function run(options: readonly string[]) {
  const args = ['--test', '--test-timeout=240000', ...given, ...options];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = Promise.withResolvers<number>();
  child.on('error', ended.reject);
  child.on('close', (code) => ended.resolve(code ?? 1));
  return { output: child.stdout, ended: ended.promise };
}

/** Runs each group in a process, one after the other. @returns the worst exit code, the output */
async function runInTurn(...groups: readonly (readonly string[])[]) {
  const outputs: Buffer[] = [];
  const codes: number[] = [];
  for (const files of groups) {
    const { output, ended } = run(['--test-isolation=none', ...files]);
    for await (const chunk of output) outputs.push(chunk as Buffer);
    codes.push(await ended);
  }
  return { output: Buffer.concat(outputs), code: Math.max(...codes) };
}

/** Some wait more than they compute. */
const ownConcurrency = availableParallelism() + 1;
const inTurn = [runInTurn(joinedFiles), runInTurn(unitFiles, edgeFiles)];
const own = run([`--test-concurrency=${ownConcurrency}`, ...ownFiles]);
own.output.pipe(process.stdout);

const codes = [await own.ended];
for (const { code, output } of await Promise.all(inTurn)) {
  process.stdout.write(output);
  codes.push(code);
}
process.exitCode = Math.max(...codes);
