/**
 * `npm start`: runs `weir serve` and restarts it when it dies, as systemd, Docker or Kubernetes do
 * for an installed Weir. A requested stop and a refused start are final.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { allocatorEnv, diskFailedExitCode, nodeFlags } from '../src/service/process.ts';

const command = fileURLToPath(new URL('../src/cli/weir.ts', import.meta.url));
/** Halves the start-up time: sources are parsed once. */
const compileCache = fileURLToPath(new URL('../node_modules/.cache/compile', import.meta.url));
/**
 * A first process that exits early was refused: an invalid setting, a port in use. Later ones may
 * have met a full disk.
 */
const refusedWithinMs = 10_000;
const firstPauseMs = 1_000;
const maxPauseMs = 30_000;

let isStopping = false;
let hasServed = false;
let running: ChildProcess | undefined;

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    // A terminal sends SIGINT to both; a second signal ends `weir serve` at once, so only one is
    // forwarded.
    if (signal === 'SIGTERM' || !process.stdin.isTTY) running?.kill(signal);
    isStopping = true;
  });
}

for (let pauseMs = firstPauseMs; ; ) {
  const startedAt = performance.now();
  const end = await run();
  const ranMs = performance.now() - startedAt;
  hasServed ||= ranMs >= refusedWithinMs || end.code === null || end.code === diskFailedExitCode;
  const isRefused = !hasServed;
  if (isStopping || end.code === 0 || isRefused) {
    process.exitCode = end.code ?? 1;
    break;
  }
  if (ranMs > 2 * maxPauseMs) pauseMs = firstPauseMs;
  const how = end.signal ?? `exit code ${String(end.code)}`;
  process.stderr.write(`weir ended (${how}): starting it again in ${pauseMs / 1000} s\n`);
  await sleep(pauseMs);
  if (isStopping) break;
  pauseMs = Math.min(2 * pauseMs, maxPauseMs);
}

async function run(): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
  const args = [...nodeFlags, command, 'serve', ...process.argv.slice(2)];
  // The channel tells `weir serve` when this process has ended.
  running = spawn(process.execPath, args, {
    env: { ...allocatorEnv, NODE_COMPILE_CACHE: compileCache, ...process.env },
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  const [code, signal] = (await once(running, 'exit')) as [number | null, NodeJS.Signals | null];
  return { code, signal };
}
