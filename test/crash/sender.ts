/**
 * A sender of the crash test, in a worker thread: numbered events back to back; each
 * acknowledgement is synced to its ledger before the next request. Reads `quickstart.json` again
 * after each loss.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { createHttpClient } from '../harness/http.ts';
import { createRandom } from '../harness/random.ts';
import type { Quickstart } from '../harness/quickstart.ts';
import { openLedger } from './ledger.ts';
import { eventName, type Mode } from './verdict.ts';
import type { Target } from './target.ts';
import { type WireName, wires } from './wires.ts';

export interface SenderTask {
  readonly sender: number;
  readonly mode: Mode;
  readonly wire: WireName;
  readonly seed: number;
  readonly quickstartFile: string;
  readonly ledgerFile: string;
  readonly maxEvents: number;
}

const outcomeOf = { taken: 'acknowledged', unavailable: 'refused', unknown: 'lost' } as const;
const task = workerData as SenderTask;
const random = createRandom(task.seed);
const ledger = openLedger(task.ledgerFile);
let target: Target | undefined;
let isStopping = false;
parentPort?.on('message', () => (isStopping = true));

for (let request = 0; !isStopping; request++) {
  await sendUntilSettled(request);
  await sleep(random.integer(0, 8));
}
target?.http.close();
ledger.close();
parentPort?.close();

/** A keyed request is retried until acknowledged; a plain one until its outcome is unknown. */
async function sendUntilSettled(request: number): Promise<void> {
  const events = random.integer(1, task.maxEvents);
  const names = Array.from({ length: events }, (_, i) => eventName(task.sender, request, i));
  for (;;) {
    const outcome = await attempt(request, names);
    if (outcome === 'acknowledged') return;
    target?.http.close();
    target = undefined;
    if (outcome === 'lost' && task.mode === 'plain') return;
    await sleep(20);
  }
}

/** `refused`: an error status or no connection; `lost`: no response, so it may be stored. */
async function attempt(
  request: number,
  names: readonly string[],
): Promise<'acknowledged' | 'refused' | 'lost'> {
  target ??= connect();
  // Before the first start there is no address.
  if (target === undefined) return 'refused';
  ledger.noteAttempt(request, names.length);
  try {
    const key = task.mode === 'keyed' ? `${task.sender}-${request}` : undefined;
    const answer = await wires[task.wire](target, { request, names, key });
    if (answer === 'taken') ledger.noteAck(request);
    return outcomeOf[answer];
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ECONNREFUSED') return 'refused';
    if (['ECONNRESET', 'EPIPE', 'ECONNABORTED'].includes(code) || code.startsWith('ERR_HTTP2_')) {
      return 'lost';
    }
    throw error;
  }
}

/** The error of an HTTP/2 stream has the reason in its cause. */
function codeOf(error: unknown): string {
  const { code, cause } = error as NodeJS.ErrnoException;
  return (cause as NodeJS.ErrnoException | undefined)?.code ?? code ?? '';
}

/** @returns undefined until the first start has written its files */
function connect(): Target | undefined {
  try {
    const quickstart = JSON.parse(readFileSync(task.quickstartFile, 'utf8')) as Quickstart;
    const ca = readFileSync(quickstart.caFile, 'utf8');
    return { quickstart, ca, http: createHttpClient(ca, 1) };
  } catch (error) {
    if (['ENOENT', 'EIO', 'ENOTCONN', 'ECONNABORTED'].includes(codeOf(error))) return undefined;
    throw error;
  }
}
