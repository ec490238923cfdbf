/**
 * Lists what the messages in quarantine hold: batches, damaged bytes, and the remains of an
 * interrupted removal. Keeps no bodies.
 */
import type { StoredMsg } from '@nats-io/jetstream';
import type { BatchId } from '../../model/batch.ts';
import { decodeFrame, isBodyIntact, readFrameHeader } from '../frame.ts';
import type { SetAside } from '../quarantine.ts';
import { headers, readChunk } from './messages.ts';
import type { QuarantineMessages } from './quarantine-messages.ts';

/** One frame, or damaged bytes. */
export interface Kept {
  readonly shown: SetAside;
  /** Unix ns since when its rows may be stored. */
  readonly sinceNanos: bigint;
  /** Stream sequences: the pieces in order, then duplicates. */
  readonly messages: readonly number[];
  readonly pieces: number;
  /** The messages with the first piece. */
  readonly heads: readonly number[];
  /** True if it was retried or dropped: removal starts with the first piece. */
  readonly isRemains: boolean;
  /** The shard that it was in. */
  readonly shard: number;
}

/** In the order of arrival. @throws as `QuarantineMessages` */
export async function look(messages: QuarantineMessages): Promise<Kept[]> {
  const uploads = new Map<string, Piece[]>();
  for await (const message of messages.all()) {
    const piece = toPiece(message);
    // After a change of max_payload, a batch that is set aside again has other pieces.
    const key = `${piece.upload} ${piece.count}`;
    const others = uploads.get(key);
    if (others === undefined) uploads.set(key, [piece]);
    else others.push(piece);
  }
  return [...uploads.values()].map(describe);
}

/** A message without its body. */
interface Piece {
  readonly sequence: number;
  readonly setAsideAtMs: number;
  /** The same for all pieces of one frame. */
  readonly upload: string;
  readonly index: number;
  readonly count: number;
  readonly shard: number;
  readonly reason: string;
  readonly bytes: number;
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
    setAsideAtMs: time.getTime(),
    upload,
    index,
    count,
    // Earlier versions did not write it: shard 0, which always exists.
    shard: Number(text(headers.shard)),
    reason: text(headers.reason),
    bytes: data.length,
    head: mayBegin ? Buffer.from(data.subarray(0, headBytes)) : Buffer.alloc(0),
  };
}

/** @param pieces of one upload, at least one; some may be missing or there twice */
function describe(pieces: readonly Piece[]): Kept {
  const byIndex = new Map(pieces.map((piece) => [piece.index, piece]));
  const [first] = pieces as [Piece, ...Piece[]];
  const ordered = [...byIndex.values()].sort((a, b) => a.index - b.index);
  const bytes = ordered.reduce((sum, piece) => sum + piece.bytes, 0);
  const isRemains = ordered[0]!.index > 0;
  const isWhole = ordered.length === first.count && !isRemains;
  const header = isWhole ? readFrameHeader(ordered[0]!.head, 0) : undefined;
  const batch = header?.length === bytes ? decodeFrame(ordered[0]!.head) : undefined;
  const twice = pieces.filter((piece) => byIndex.get(piece.index) !== piece);
  const heads = pieces.filter(({ index }) => index === 0);
  return {
    shown: {
      id: batch === undefined ? toNameless(first, isRemains) : toId(batch.id),
      setAsideAtMs: first.setAsideAtMs,
      bytes,
      reason: isWhole
        ? first.reason
        : `${first.reason} (${ordered.length} of ${first.count} pieces)`,
      retry: 'no',
      batch: batch && { layout: batch.layout, rows: batch.rows, owner: batch.owner },
    },
    sinceNanos: batch?.receivedAtNanos ?? 0n,
    messages: [...ordered, ...twice].map(({ sequence }) => sequence),
    pieces: ordered.length,
    heads: heads.map(({ sequence }) => sequence),
    isRemains,
    shard: first.shard,
  };
}

/** For a frame in one message. */
function isDamaged(data: Uint8Array): boolean {
  const frame = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  const header = readFrameHeader(frame, 0);
  return header === undefined || !isBodyIntact(frame, 0, header);
}

/** Remains keep the id of their batch, which their upload name begins with. */
function toNameless({ sequence, upload }: Piece, isRemains: boolean): string {
  const [, id] = (isRemains && /^([0-9a-f]+-\d+)-\d+$/.exec(upload)) || [];
  return id ?? `message-${sequence}`;
}

function toId({ writer, sequence }: BatchId): string {
  return `${writer.toString(16)}-${sequence}`;
}
