/**
 * A sender of the crash test, in a worker thread: numbered events, back to back, each
 * acknowledgement on disk in its own ledger before the next request. It finds the service again
 * through `quickstart.json` after every loss.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { createHttpClient, type HttpClient } from '../harness/http.ts';
import { createRandom } from '../harness/random.ts';
import type { Quickstart } from '../harness/quickstart.ts';
import { openLedger } from './ledger.ts';
import { eventName, type Mode } from './verdict.ts';

export interface SenderTask {
  readonly sender: number;
  readonly mode: Mode;
  readonly seed: number;
  readonly quickstartFile: string;
  readonly ledgerFile: string;
  readonly maxEvents: number;
}

interface Target {
  readonly http: HttpClient;
  readonly quickstart: Quickstart;
}

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

/**
 * A keyed request is repeated until it is acknowledged, a plain one is tried until it may have
 * arrived.
 */
async function sendUntilSettled(request: number): Promise<void> {
  const events = random.integer(1, task.maxEvents);
  const body = JSON.stringify(
    Array.from({ length: events }, (_, index) => ({
      message: eventName(task.sender, request, index),
      severity: random.pick(['DEBUG', 'INFO', 'WARN', 'ERROR']),
      service_name: `sender-${task.sender}`,
      labels: { request: String(request) },
    })),
  );
  for (;;) {
    const outcome = await attempt(request, events, body);
    if (outcome === 'acknowledged') return;
    target?.http.close();
    target = undefined;
    if (outcome === 'lost' && task.mode === 'plain') return;
    await sleep(20);
  }
}

/**
 * `refused`: the service said no, or was not there; `lost`: no answer came, so it may have been
 * stored.
 */
async function attempt(
  request: number,
  events: number,
  body: string,
): Promise<'acknowledged' | 'refused' | 'lost'> {
  target ??= connect();
  const { url, token } = target.quickstart.receivers.http_json;
  ledger.noteAttempt(request, events);
  try {
    const answer = await target.http.send(url, {
      method: 'POST',
      body,
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        ...(task.mode === 'keyed' ? { 'idempotency-key': `${task.sender}-${request}` } : {}),
      },
    });
    if (answer.status === 202 && answer.json<{ accepted: number }>().accepted === events) {
      ledger.noteAck(request);
      return 'acknowledged';
    }
    if (answer.status === 503) return 'refused';
    throw new Error(`unexpected answer ${answer.status}: ${answer.text}`);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (code === 'ECONNREFUSED') return 'refused';
    if (['ECONNRESET', 'EPIPE', 'ECONNABORTED'].includes(code)) return 'lost';
    throw error;
  }
}

function connect(): Target {
  const quickstart = JSON.parse(readFileSync(task.quickstartFile, 'utf8')) as Quickstart;
  return { quickstart, http: createHttpClient(readFileSync(quickstart.caFile, 'utf8'), 1) };
}
