/**
 * Idempotency keys shared by all gateways. The first request with a key claims it with the id of
 * its batch. A repetition that finds the claim unfinished publishes under the same id, so that the
 * batch is stored once.
 */
import type { BatchId } from '../../model/batch.ts';
import { AppError } from '../../model/errors.ts';
import { type IdempotencyRecord, type RememberedAnswer, requireSameBody } from '../port.ts';
import type { Bucket } from './bucket.ts';

/** The entry of a key. */
interface Claim extends RememberedAnswer {
  /** The only batch that this key may store. */
  readonly id: BatchId;
  readonly shard: number;
  /** Whether that batch is known to be in the queue. */
  readonly isDone: boolean;
}

export interface ClaimedKey extends Pick<Claim, 'id' | 'shard' | 'isDone'> {
  /** Unix ms by the clock of NATS, when an earlier request claimed it; undefined = none did. */
  readonly claimedAtMs: number | undefined;
  /** The first request's answer; undefined if this is the first. */
  readonly first: RememberedAnswer | undefined;
  readonly revision: number;
}

export type IdempotencyKeys = ReturnType<typeof createIdempotencyKeys>;

export function createIdempotencyKeys(keys: Pick<Bucket, 'get' | 'replace'>) {
  return {
    /** @throws AppError `unavailable`; `malformed` when the key came with another body before */
    async claim(
      record: IdempotencyRecord,
      own: { readonly id: BatchId; readonly shard: number },
    ): Promise<ClaimedKey> {
      const name = toHex(record.key);
      const value = encodeClaim({ ...record, ...own, isDone: false });
      const revision = await keys.replace(name, value, 0);
      if (revision !== undefined) {
        return { ...own, claimedAtMs: undefined, first: undefined, isDone: false, revision };
      }
      const entry = await keys.get(name);
      if (entry === undefined) throw keyExpired();
      const found = decodeClaim(entry.value);
      requireSameBody(record.bodyDigest, found.bodyDigest);
      const { id, shard, isDone, bodyDigest, answer } = found;
      const held = { id, shard, isDone, revision: entry.revision };
      // This request's claim, if its acknowledgement was lost.
      const isOwn = id.writer === own.id.writer && id.sequence === own.id.sequence;
      const first = isOwn ? undefined : { bodyDigest, answer };
      return { ...held, claimedAtMs: entry.writtenAtMs, first };
    },
    /** To be called once the batch is in the queue. */
    async settle(record: IdempotencyRecord, held: ClaimedKey): Promise<void> {
      const { id, shard, first, revision } = held;
      const claim = { ...record, ...first, id, shard, isDone: true };
      await keys.replace(toHex(record.key), encodeClaim(claim), revision);
    },
    /** @throws AppError `unavailable` */
    async recall(key: Uint8Array): Promise<RememberedAnswer | undefined> {
      const entry = await keys.get(toHex(key));
      if (entry === undefined) return undefined;
      const { isDone, bodyDigest, answer } = decodeClaim(entry.value);
      return isDone ? { bodyDigest, answer } : undefined;
    },
  };
}

function keyExpired(): AppError {
  return new AppError('unavailable', 'cannot use this Idempotency-Key now: try again', {
    retryAfterSeconds: 1,
  });
}

/** JSON, readable with NATS tools. */
interface StoredClaim {
  readonly digest: string;
  readonly answer: string;
  readonly writer: string;
  readonly sequence: string;
  readonly shard: number;
  readonly done: boolean;
}

function encodeClaim({ bodyDigest, answer, id, shard, isDone }: Claim): Uint8Array {
  const stored: StoredClaim = {
    digest: toHex(bodyDigest),
    answer: Buffer.from(answer).toString('base64'),
    writer: `${id.writer}`,
    sequence: `${id.sequence}`,
    shard,
    done: isDone,
  };
  return Buffer.from(JSON.stringify(stored));
}

function decodeClaim(value: Buffer): Claim {
  const stored = JSON.parse(value.toString()) as StoredClaim;
  return {
    bodyDigest: Buffer.from(stored.digest, 'hex'),
    answer: Buffer.from(stored.answer, 'base64'),
    id: { writer: BigInt(stored.writer), sequence: BigInt(stored.sequence) },
    shard: stored.shard,
    isDone: stored.done,
  };
}

function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
