/**
 * Retries with an `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header): of all requests to
 * one receiver with one key, one is taken, and each of the others gets its answer. What was durable
 * is remembered by the queue; here stand only the requests under way.
 */
import { createHash } from 'node:crypto';
import type { Receiver } from '../model/account.ts';
import { AppError } from '../model/errors.ts';
import { createShares } from '../std/shares.ts';
import type { Reply } from '../model/protocol.ts';
import type { RequestHeaders } from '../model/request.ts';
import type { Queue } from '../queue/port.ts';

export interface HeldClaim {
  /**
   * The first answer; undefined where this request is the first and must call `settle` when it is
   * over.
   */
  readonly answer: Uint8Array | undefined;
  settle(): void;
}

export interface Claim extends HeldClaim {
  /** 16-byte digest of (receiver, key). */
  readonly key: Uint8Array;
  /** 16-byte digest of the request body. */
  readonly bodyDigest: Uint8Array;
}

/** Requests under way by their key, in one place for all that append to the queue of a machine. */
export interface Claims {
  /**
   * Waits while a request with the same key is under way. Both digests are those of `Claim`.
   * @throws AppError as `Replays.claim`
   */
  claim(accountId: string, key: Uint8Array, bodyDigest: Uint8Array): Promise<HeldClaim>;
}

export interface Replays {
  /**
   * Waits while a request with the same key is under way.
   * @throws AppError `malformed` when the key came with another body before; `unavailable` when too
   * many of the account are under way
   */
  claim(receiver: KeyScope, key: string, body: Uint8Array): Promise<Claim>;
}

/** A key is known to its receiver alone. */
type KeyScope = Pick<Receiver, 'accountId' | 'receiverId'>;

/** Each holds a body in memory, so the in-flight cap is met before this one, but for tiny ones. */
const maxUnderWay = 10_000;
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

export function createReplays(claims: Claims): Replays {
  return {
    async claim({ accountId, receiverId }, name, body) {
      const key = digest(`${receiverId}\0${name}`);
      const bodyDigest = digest(body);
      const { answer, settle } = await claims.claim(accountId, key, bodyDigest);
      return { key, bodyDigest, answer, settle };
    },
  };
}

export function createClaims(queue: Pick<Queue, 'recall'>): Claims {
  const underWay = new Map<string, Promise<void>>();
  const shares = createShares(maxUnderWay);

  async function claim(
    accountId: string,
    key: Uint8Array,
    bodyDigest: Uint8Array,
  ): Promise<HeldClaim> {
    const name = Buffer.from(key).toString('latin1');
    for (let first = underWay.get(name); first !== undefined; first = underWay.get(name)) {
      await first;
    }
    if (!shares.hasRoom(accountId, 1)) throw tooManyUnderWay(shares.heldBy(accountId));
    const { promise, resolve } = Promise.withResolvers<void>();
    underWay.set(name, promise);
    shares.take(accountId, 1);
    const settle = () => {
      if (underWay.get(name) !== promise) return;
      underWay.delete(name);
      shares.give(accountId, 1);
      resolve();
    };
    try {
      const remembered = await queue.recall(key);
      if (remembered !== undefined) checkSameBody(bodyDigest, remembered.bodyDigest);
      if (remembered !== undefined) settle();
      return { answer: remembered?.answer, settle };
    } catch (fault) {
      settle();
      throw fault;
    }
  }

  return { claim };
}

function tooManyUnderWay(own: number): AppError {
  const message =
    'cannot take more requests with an Idempotency-Key now: ' +
    `the account has ${own} of ${maxUnderWay} under way; send fewer at once`;
  return new AppError('unavailable', message, { retryAfterSeconds: 1 });
}

/** A reply as the queue remembers it. */
export function encodeReply({ status, contentType, body, headers }: Reply): Uint8Array {
  const bytes = typeof body === 'string' ? Buffer.from(body) : Buffer.from(body);
  const text = bytes.toString('latin1');
  return Buffer.from(JSON.stringify([status, contentType ?? null, text, headers ?? {}]));
}

/** @param answer as `encodeReply` made it */
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

function checkSameBody(now: Uint8Array, first: Uint8Array): void {
  if (Buffer.compare(now, first) === 0) return;
  throw new AppError(
    'malformed',
    'cannot use this Idempotency-Key: it came with another body before; a new body needs a new key',
    { parameter: 'Idempotency-Key' },
  );
}

function digest(data: string | Uint8Array): Buffer {
  return createHash('sha256').update(data).digest().subarray(0, 16);
}
