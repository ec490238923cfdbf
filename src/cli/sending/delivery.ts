/**
 * Sends a batch until it gets a response: retries, splits what is too large, and counts the result.
 */
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { text as readText } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { toError } from '../../std/error-text.ts';
import type { Target } from '../connection.ts';
import {
  isPermanent,
  parseJson,
  parseRetryAfter,
  problemText,
  reasonOf,
  sendRequest,
} from '../http.ts';
import { type Batch, halve, toBody } from './batcher.ts';
import type { Tally } from './tally.ts';

interface IngestResponse {
  readonly status: number;
  /** Parsed JSON; undefined where it is none. */
  readonly body: unknown;
  readonly retryAfterSeconds: number | undefined;
}

export interface DeliveryContext {
  readonly client: IngestClient;
  readonly tally: Tally;
  /** Stops retries; requests in flight complete. */
  readonly stop: AbortSignal;
  /** The idempotency key of a body, the same for all retries. */
  readonly keyOf: (batch: Batch, body: Buffer) => string;
  /** How long one request is waited for and retried; 0 = forever. */
  readonly giveUpAfterMs: number;
}

const maxRequestMs = 60_000;
const minBackoffMs = 200;
const maxBackoffMs = 10_000;

/** Nothing more can be delivered. */
class DeliveryError extends Error {
  override readonly name = 'DeliveryError';
}

export type IngestClient = ReturnType<typeof createIngestClient>;

/** Keeps connections open until it is closed. */
export function createIngestClient({ url, token, ca }: Target) {
  const agent =
    url.protocol === 'https:'
      ? new HttpsAgent({ keepAlive: true, ca })
      : new HttpAgent({ keepAlive: true });
  return {
    /** @param key for idempotency. @throws Error of the network, or after the timeout */
    async post(body: Uint8Array, key: string, timeoutMs: number): Promise<IngestResponse> {
      const response = await sendRequest(url, {
        method: 'POST',
        agent,
        signal: AbortSignal.timeout(timeoutMs),
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          'idempotency-key': key,
        },
        body,
      });
      const text = await readText(response);
      return {
        status: response.statusCode ?? 0,
        body: parseJson(text),
        retryAfterSeconds: parseRetryAfter(response.headers['retry-after']),
      };
    },
    close: () => agent.destroy(),
  };
}

/**
 * Resolves once each event was accepted or rejected.
 * @throws DeliveryError, or an AbortError after `stop`
 */
export async function deliver(batch: Batch, context: DeliveryContext): Promise<void> {
  const body = toBody(batch);
  const response = await postUntilSettled(body, context.keyOf(batch, body), context);
  const { status } = response;
  if (status >= 200 && status < 300) {
    count(batch, body, response, context.tally);
    return;
  }
  // 413: too large. 400: one unreadable event fails a whole request; halving isolates it.
  if (status !== 413 && status !== 400) throw new DeliveryError(reasonFor(response));
  const [only, second] = batch.events;
  if (only !== undefined && second === undefined) {
    context.tally.reject(only, textOf(response));
    return;
  }
  for (const half of halve(batch)) await deliver(half, context);
}

async function postUntilSettled(
  body: Buffer,
  key: string,
  { client, tally, stop, giveUpAfterMs }: DeliveryContext,
): Promise<IngestResponse> {
  const deadline = giveUpAfterMs === 0 ? Number.POSITIVE_INFINITY : Date.now() + giveUpAfterMs;
  for (let failures = 1; ; failures += 1) {
    const timeoutMs = Math.max(1, Math.min(maxRequestMs, deadline - Date.now()));
    const outcome = await client.post(body, key, timeoutMs).catch(toError);
    const isError = outcome instanceof Error;
    if (!isError && !isTransient(outcome.status)) {
      tally.trouble = undefined;
      return outcome;
    }
    const reason = isError ? reasonOf(outcome) : reasonFor(outcome);
    if (isError && isPermanent(outcome)) throw new DeliveryError(reason);
    const retryAfterSeconds = isError ? undefined : outcome.retryAfterSeconds;
    const delayMs = retryDelayMs({ failures, retryAfterSeconds, random: Math.random() });
    if (Date.now() + delayMs > deadline) {
      throw new DeliveryError(`${reason}; gave up after ${giveUpAfterMs / 1000} s`);
    }
    tally.trouble = reason;
    await sleep(delayMs, undefined, { signal: stop });
    tally.retries += 1;
  }
}

interface AcceptedBody {
  readonly accepted?: unknown;
  readonly rejected?: readonly { readonly index: number; readonly reason: string }[];
  readonly rejectedCount?: number;
}

function count({ events }: Batch, body: Buffer, response: IngestResponse, tally: Tally): void {
  const { accepted, rejected = [], ...rest } = (response.body ?? {}) as AcceptedBody;
  const { rejectedCount = rejected.length } = rest;
  if (accepted !== events.length - rejectedCount) {
    throw new DeliveryError(
      `${events.length} events got ${response.status} and accepted: ` +
        `${JSON.stringify(accepted)}; check that the URL is of a receiver of kind http_json`,
    );
  }
  tally.accepted += accepted;
  tally.bytes += body.length;
  for (const { index, reason } of rejected) tally.reject(events[index] ?? { line: 0 }, reason);
  tally.rejectUnnamed(rejectedCount - rejected.length);
}

function reasonFor(response: IngestResponse): string {
  return `${textOf(response)} (${response.status})`;
}

function textOf({ body, status }: IngestResponse): string {
  return problemText(body) ?? `the service returned ${status} without a reason`;
}

/** 408 and 425 come from slow networks, 500, 502 and 504 from proxies and restarts. */
export function isTransient(status: number): boolean {
  return [408, 425, 429, 500, 502, 503, 504].includes(status);
}

/**
 * Exponential backoff with jitter, never shorter than `Retry-After`.
 * @param failures requests that failed so far, from 1.
 * @param random in [0, 1).
 */
export function retryDelayMs({
  failures,
  retryAfterSeconds = 0,
  random,
}: {
  readonly failures: number;
  readonly retryAfterSeconds: number | undefined;
  readonly random: number;
}): number {
  const backoff = Math.min(maxBackoffMs, minBackoffMs * 2 ** Math.min(failures - 1, 30));
  return Math.round(Math.max(retryAfterSeconds * 1000, backoff / 2) + (backoff / 2) * random);
}
