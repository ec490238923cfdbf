/**
 * Idempotency keys shared by all gateways. The first request with a key claims it with the id of
 * its batch. A repetition that finds the claim unfinished publishes under the same id, so that the
 * batch is stored once.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
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

export function createIdempotencyKeys(keys: Pick<Bucket, 'get' | 'replace' | 'maxValueBytes'>) {
  return {
    /**
     * @throws AppError `unavailable`; `malformed` when the key came with another body before;
     *   `too_large` for an answer that NATS does not take
     */
    async claim(
      record: IdempotencyRecord,
      own: { readonly id: BatchId; readonly shard: number },
    ): Promise<ClaimedKey> {
      const name = toHex(record.key);
      const value = encodeClaim({ ...record, ...own, isDone: false });
      if (value.length > keys.maxValueBytes()) throw answerTooLarge(record.answer.length);
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

function answerTooLarge(bytes: number): AppError {
  return new AppError(
    'too_large',
    `cannot keep the answer of ${bytes} bytes for this Idempotency-Key: send smaller batches`,
  );
}

/** Longer answers, such as those with an item for each record, are stored deflated. */
const maxPlainBytes = 4096;

/** JSON, readable with NATS tools. */
interface StoredClaim {
  readonly digest: string;
  readonly answer: string;
  readonly deflated?: true;
  readonly writer: string;
  readonly sequence: string;
  readonly shard: number;
  readonly done: boolean;
}

function encodeClaim({ bodyDigest, answer, id, shard, isDone }: Claim): Uint8Array {
  const isLong = answer.length > maxPlainBytes;
  const kept = isLong ? deflateRawSync(answer) : Buffer.from(answer);
  const stored: StoredClaim = {
    digest: toHex(bodyDigest),
    answer: kept.toString('base64'),
    ...(isLong && { deflated: true }),
    writer: `${id.writer}`,
    sequence: `${id.sequence}`,
    shard,
    done: isDone,
  };
  return Buffer.from(JSON.stringify(stored));
}

function decodeClaim(value: Buffer): Claim {
  const stored = JSON.parse(value.toString()) as StoredClaim;
  const answer = Buffer.from(stored.answer, 'base64');
  return {
    bodyDigest: Buffer.from(stored.digest, 'hex'),
    answer: stored.deflated === true ? inflateRawSync(answer) : answer,
    id: { writer: BigInt(stored.writer), sequence: BigInt(stored.sequence) },
    shard: stored.shard,
    isDone: stored.done,
  };
}

function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
