/**
 * One batch on its way: repeated until it has an answer, split where it is too large, and counted.
 * The key of a request is made before its first try and kept, so the service takes it once.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isPermanent, problemText, reasonOf } from '../http.ts';
import { type Batch, halve, toBody } from './batcher.ts';
import type { IngestAnswer, IngestClient } from './ingest-client.ts';
import { isTransient, retryDelayMs } from './retry.ts';
import type { Tally } from './tally.ts';
import { toError } from '../../std/error-text.ts';

export interface DeliveryParts {
  readonly client: IngestClient;
  readonly tally: Tally;
  /** Aborted when nothing is to be tried again; requests under way end by themselves. */
  readonly stop: AbortSignal;
  /** The idempotency key of a body; another one for another request. */
  readonly keyOf: (batch: Batch, body: Buffer) => string;
  /** How long one request is tried again and again; 0 = for ever. */
  readonly giveUpAfterMs: number;
}

/** Nothing more can be delivered: the sentence says why. */
class DeliveryError extends Error {
  override readonly name = 'DeliveryError';
}

/**
 * Resolves once each event was accepted or rejected.
 * @throws DeliveryError, or an AbortError once it is to stop
 */
export async function deliver(batch: Batch, parts: DeliveryParts): Promise<void> {
  const body = toBody(batch);
  const answer = await postUntilAnswered(body, parts.keyOf(batch, body), parts);
  if (answer.status >= 200 && answer.status < 300) {
    count(batch, body, answer, parts.tally);
    return;
  }
  // One event that cannot be read spoils a whole request, so it is looked for too.
  if (answer.status !== 413 && answer.status !== 400) throw new DeliveryError(refusalOf(answer));
  const [only, second] = batch.events;
  if (only !== undefined && second === undefined) {
    parts.tally.reject(only.line, wordsOf(answer));
    return;
  }
  for (const half of halve(batch)) await deliver(half, parts);
}

async function postUntilAnswered(
  body: Buffer,
  key: string,
  { client, tally, stop, giveUpAfterMs }: DeliveryParts,
): Promise<IngestAnswer> {
  const deadline = giveUpAfterMs === 0 ? Number.POSITIVE_INFINITY : Date.now() + giveUpAfterMs;
  for (let failures = 1; ; failures += 1) {
    const outcome = await client.post(body, key).catch(toNetworkFailure);
    const isFailure = outcome instanceof Error;
    if (!isFailure && !isTransient(outcome.status)) {
      tally.trouble = undefined;
      return outcome;
    }
    const reason = isFailure ? reasonOf(outcome) : refusalOf(outcome);
    if (isFailure && isPermanent(outcome)) throw new DeliveryError(reason);
    const retryAfterSeconds = isFailure ? undefined : outcome.retryAfterSeconds;
    const delayMs = retryDelayMs({ failures, retryAfterSeconds, random: Math.random() });
    if (Date.now() + delayMs > deadline) {
      throw new DeliveryError(`${reason}; gave up after ${giveUpAfterMs / 1000} s`);
    }
    tally.trouble = reason;
    await sleep(delayMs, undefined, { signal: stop });
    tally.retries += 1;
  }
}

function toNetworkFailure(error: unknown): Error {
  return toError(error);
}

interface AcceptedBody {
  readonly accepted?: unknown;
  readonly rejected?: readonly { readonly index: number; readonly reason: string }[];
  readonly rejectedCount?: number;
}

function count({ events }: Batch, body: Buffer, answer: IngestAnswer, tally: Tally): void {
  const { accepted, rejected = [], rejectedCount = rejected.length } = toAcceptedBody(answer.body);
  if (accepted !== events.length - rejectedCount) {
    throw new DeliveryError(
      `${events.length} events were answered with ${answer.status} and accepted: ` +
        `${JSON.stringify(accepted)}; is that the address of a receiver of kind http_json?`,
    );
  }
  tally.accepted += accepted;
  tally.bytes += body.length;
  for (const { index, reason } of rejected) tally.reject(events[index]?.line ?? 0, reason);
  tally.rejectUnnamed(rejectedCount - rejected.length);
}

function toAcceptedBody(body: unknown): AcceptedBody {
  return typeof body === 'object' && body !== null ? body : {};
}

function refusalOf(answer: IngestAnswer): string {
  return `${wordsOf(answer)} (${answer.status})`;
}

function wordsOf({ body, status }: IngestAnswer): string {
  return problemText(body) ?? `the service answered ${status} without a reason`;
}
