/** The messages in quarantine: how batches and damaged bytes are written there and read back. */
import type { StoredMsg } from '@nats-io/jetstream';
import { headers as createHeaders } from '@nats-io/transport-node';
import type { BatchId, StampedBatch } from '../../model/batch.ts';
import { randomBase32 } from '../../std/random-id.ts';
import {
  decodeFrame,
  encodeFrame,
  finishFrame,
  isBodyIntact,
  measureFrame,
  readFrameHeader,
} from '../frame.ts';
import type { QuarantineEntry } from '../quarantine.ts';
import { storedSince } from './assembler.ts';
import type { NatsLink } from './connection.ts';
import { type Chunk, headers, headroomBytes, messageKinds, readChunk } from './messages.ts';

export interface Quarantined {
  /** The same in all pieces. */
  readonly id: string;
  /** The shard that it was in. */
  readonly shard: number;
  readonly bytes: Buffer;
  readonly reason: string;
}

const maxReasonLength = 1000;

/**
 * Stores bytes in quarantine, durably. After a lost response they may be stored twice: with a
 * stable message id, NATS would also drop a batch that had been retried meanwhile.
 * @throws Error if JetStream did not acknowledge all of it
 */
export async function quarantine(link: NatsLink, quarantined: Quarantined): Promise<void> {
  const { id, shard, bytes, reason } = quarantined;
  const chunkBytes = (link.connection.info?.max_payload ?? 1_048_576) - headroomBytes;
  const count = Math.max(1, Math.ceil(bytes.length / chunkBytes));
  const attempt = randomBase32(26);
  for (let index = 0; index < count; index++) {
    const piece = bytes.subarray(index * chunkBytes, (index + 1) * chunkBytes);
    const head = createHeaders();
    head.set(headers.kind, count === 1 ? messageKinds.frames : messageKinds.chunk);
    head.set(headers.reason, toHeaderText(reason));
    head.set(headers.shard, String(shard));
    if (count > 1) {
      head.set(headers.upload, id);
      head.set(headers.chunk, `${index}/${count}`);
    }
    const msgID = `${attempt}/${index}`;
    await link.js.publish(link.names.quarantineSubject, piece, { msgID, headers: head });
  }
}

/**
 * The frame's time is that since when rows of the batch may be stored: a retry looks them up from
 * then on. The id contains the time of receipt, so that a batch that is quarantined again after a
 * retry is not joined with its earlier pieces.
 */
export function toQuarantined(batch: StampedBatch, shard: number, reason: string): Quarantined {
  const { id, receivedAtNanos } = batch;
  const bytes = Buffer.from(new ArrayBuffer(measureFrame(batch)));
  encodeFrame(bytes, 0, { ...batch, receivedAtNanos: storedSince(batch) });
  finishFrame(bytes, 0, 0);
  const name = `${id.writer.toString(16)}-${id.sequence}-${receivedAtNanos}`;
  return { id: name, shard, bytes, reason };
}

/** One line of bounded length. */
function toHeaderText(reason: string): string {
  return reason
    .replace(/[^\x20-\x7e]+/g, ' ')
    .slice(0, maxReasonLength)
    .trim();
}

/** One frame, or damaged bytes. */
export interface Kept {
  readonly shown: QuarantineEntry;
  /** Unix ns since when its rows may be stored. */
  readonly sinceNanos: bigint;
  /** Stream sequences: the pieces in order, then duplicates. */
  readonly messages: readonly number[];
  readonly pieces: number;
  /** The messages with the first piece. */
  readonly heads: readonly number[];
  /** True if it was retried or dropped: removal starts with the first piece. */
  readonly isPartlyRemoved: boolean;
  /** The shard that it was in. */
  readonly shard: number;
}

/** Joins the messages of each frame, in the order of arrival. */
export async function joinPieces(messages: AsyncIterable<StoredMsg>): Promise<Kept[]> {
  const pieces = await Array.fromAsync(messages, toPiece);
  // After a change of max_payload, a batch that is quarantined again has another count of pieces.
  const frames = Map.groupBy(pieces, ({ upload, count }) => `${upload} ${count}`);
  return [...frames.values()].map(describe);
}

/** A message without its body. */
interface Piece extends Chunk, Pick<QuarantineEntry, 'quarantinedAtMs' | 'reason' | 'bytes'> {
  readonly sequence: number;
  readonly shard: number;
  /** Frame header and owner, if it is a first piece. */
  readonly head: Buffer;
}

const headBytes = 4096;

function toPiece({ seq, time, header, data }: StoredMsg): Piece {
  const text = (name: string) => header?.get(name) ?? '';
  const upload = text(headers.upload) || `message-${seq}`;
  const { index, count } = readChunk(upload, text(headers.chunk)) ?? { index: 0, count: 1 };
  const mayBegin = index === 0 && !(count === 1 && isDamaged(data));
  return {
    sequence: seq,
    quarantinedAtMs: time.getTime(),
    upload,
    index,
    count,
    // Earlier versions did not write it; shard 0 always exists.
    shard: Number(text(headers.shard)),
    reason: text(headers.reason),
    bytes: data.length,
    head: mayBegin ? Buffer.from(data.subarray(0, headBytes)) : Buffer.alloc(0),
  };
}

/** @param pieces of one upload, at least one; some may be missing or duplicated */
function describe(pieces: readonly Piece[]): Kept {
  const byIndex = new Map(pieces.map((piece) => [piece.index, piece]));
  const [first] = pieces as [Piece, ...Piece[]];
  const ordered = [...byIndex.values()].sort((a, b) => a.index - b.index);
  const bytes = ordered.reduce((sum, piece) => sum + piece.bytes, 0);
  const isPartlyRemoved = ordered[0]!.index > 0;
  const isComplete = ordered.length === first.count && !isPartlyRemoved;
  const header = isComplete ? readFrameHeader(ordered[0]!.head, 0) : undefined;
  const batch = header?.length === bytes ? decodeFrame(ordered[0]!.head) : undefined;
  const duplicates = pieces.filter((piece) => byIndex.get(piece.index) !== piece);
  const heads = pieces.filter(({ index }) => index === 0);
  return {
    shown: {
      id: batch === undefined ? toFallbackId(first, isPartlyRemoved) : toId(batch.id),
      quarantinedAtMs: first.quarantinedAtMs,
      bytes,
      reason: isComplete
        ? first.reason
        : `${first.reason} (${ordered.length} of ${first.count} pieces)`,
      retry: 'no',
      batch: batch && { layout: batch.layout, rows: batch.rows, owner: batch.owner },
    },
    sinceNanos: batch?.receivedAtNanos ?? 0n,
    messages: [...ordered, ...duplicates].map(({ sequence }) => sequence),
    pieces: ordered.length,
    heads: heads.map(({ sequence }) => sequence),
    isPartlyRemoved,
    shard: first.shard,
  };
}

/** For a frame in one message. */
function isDamaged(data: Uint8Array): boolean {
  const frame = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  const header = readFrameHeader(frame, 0);
  return header === undefined || !isBodyIntact(frame, header);
}

/** Remains keep the id of their batch, which their upload name begins with. */
function toFallbackId({ sequence, upload }: Piece, isPartlyRemoved: boolean): string {
  const [, id] = (isPartlyRemoved && /^([0-9a-f]+-\d+)-\d+$/.exec(upload)) || [];
  return id ?? `message-${sequence}`;
}

function toId({ writer, sequence }: BatchId): string {
  return `${writer.toString(16)}-${sequence}`;
}
