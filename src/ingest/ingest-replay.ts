/**
 * Retries with an `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header): of all requests to
 * one receiver with one key one is stored, and the others get its answer. The queue remembers the
 * answers of durable requests; this module tracks requests in flight.
 */
import { createHash } from 'node:crypto';
import type { Receiver } from '../model/account.ts';
import { AppError } from '../model/errors.ts';
import { createShares } from '../std/shares.ts';
import type { Reply } from '../model/protocol.ts';
import type { RequestHeaders } from '../model/request.ts';
import { type Queue, requireSameBody } from '../queue/port.ts';

export interface HeldClaim {
  /** The answer of the first request; undefined if this is the first, which must `settle`. */
  readonly answer: Uint8Array | undefined;
  settle(): void;
}

/** Requests in flight by key, shared by all processes that append to the queue of a machine. */
export interface Claims {
  /**
   * Waits while a request with the same key is in flight.
   * @param key 16-byte digest of receiver and key
   * @param bodyDigest 16-byte digest of the body
   * @throws AppError `malformed` if the key was used with another body; `unavailable` if the
   *   account has too many requests in flight
   */
  claim(accountId: string, key: Uint8Array, bodyDigest: Uint8Array): Promise<HeldClaim>;
}

/** The cap on memory in flight is reached earlier, except with tiny bodies. */
const maxInFlight = 10_000;
const keyPattern = /^[\x21-\x7e]{1,255}$/;

/** @throws AppError `malformed` */
export function idempotencyKey(headers: RequestHeaders): string | undefined {
  const [key, second] = headers.idempotencyKey;
  if (key === undefined) return undefined;
  if (second === undefined && keyPattern.test(key)) return key;
  throw new AppError(
    'malformed',
    'cannot use the idempotency key: send one Idempotency-Key of 1 to 255 visible ASCII characters',
    { parameter: 'Idempotency-Key' },
  );
}

/** Claims the key of a request to one receiver. @throws AppError of `Claims.claim` */
export async function claimKey(
  claims: Claims,
  { accountId, receiverId }: Pick<Receiver, 'accountId' | 'receiverId'>,
  request: { readonly key: string; readonly body: Uint8Array },
): Promise<HeldClaim & { readonly key: Uint8Array; readonly bodyDigest: Uint8Array }> {
  const key = digest(`${receiverId}\0${request.key}`);
  const bodyDigest = digest(request.body);
  const { answer, settle } = await claims.claim(accountId, key, bodyDigest);
  return { key, bodyDigest, answer, settle };
}

export function createClaims(queue: Pick<Queue, 'recall'>): Claims {
  const inFlight = new Map<string, Promise<void>>();
  const shares = createShares(maxInFlight);

  async function claim(
    accountId: string,
    key: Uint8Array,
    bodyDigest: Uint8Array,
  ): Promise<HeldClaim> {
    const name = Buffer.from(key).toString('latin1');
    for (let first = inFlight.get(name); first !== undefined; first = inFlight.get(name)) {
      await first;
    }
    if (!shares.hasRoom(accountId, 1)) throw tooManyInFlight(shares.heldBy(accountId));
    const { promise, resolve } = Promise.withResolvers<void>();
    inFlight.set(name, promise);
    shares.take(accountId, 1);
    const settle = () => {
      if (inFlight.get(name) !== promise) return;
      inFlight.delete(name);
      shares.give(accountId, 1);
      resolve();
    };
    try {
      const remembered = await queue.recall(key);
      if (remembered === undefined) return { answer: undefined, settle };
      requireSameBody(bodyDigest, remembered.bodyDigest);
      settle();
      return { answer: remembered.answer, settle };
    } catch (fault) {
      settle();
      throw fault;
    }
  }

  return { claim };
}

function tooManyInFlight(own: number): AppError {
  const message =
    'cannot accept more requests with an Idempotency-Key now: ' +
    `the account has ${own} of ${maxInFlight} in flight; send fewer at once`;
  return new AppError('unavailable', message, { retryAfterSeconds: 1 });
}

/** Encodes a reply for the queue. */
export function encodeReply({ status, contentType, body, headers }: Reply): Uint8Array {
  const bytes = typeof body === 'string' ? Buffer.from(body) : Buffer.from(body);
  const text = bytes.toString('latin1');
  return Buffer.from(JSON.stringify([status, contentType ?? null, text, headers ?? {}]));
}

/** @param answer of `encodeReply` */
export function decodeReply(answer: Uint8Array): Reply {
  const [status, contentType, body, headers] = JSON.parse(Buffer.from(answer).toString()) as [
    number,
    string | null,
    string,
    Record<string, string>,
  ];
  return {
    status,
    contentType: contentType ?? undefined,
    body: Buffer.from(body, 'latin1'),
    headers,
  };
}

function digest(data: string | Uint8Array): Buffer {
  return createHash('sha256').update(data).digest().subarray(0, 16);
}
