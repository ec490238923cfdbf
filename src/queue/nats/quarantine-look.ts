/**
 * Tells from the messages in quarantine what lies there: batches, bytes that are none, and what an
 * interrupted removal left. Bodies are judged where they are read and not kept.
 */
import type { StoredMsg } from '@nats-io/jetstream';
import type { BatchId } from '../../model/batch.ts';
import { decodeFrame, isBodyIntact, readFrameHeader } from '../frame.ts';
import type { SetAside } from '../quarantine.ts';
import { headers } from './names.ts';
import type { QuarantineMessages } from './quarantine-messages.ts';

/** One frame, or bytes that are none. */
export interface Kept {
  readonly shown: SetAside;
  /** Unix ns, since when rows of it may be stored. */
  readonly sinceNanos: bigint;
  /** Numbers in the stream: the pieces in their order, then those that are there twice. */
  readonly messages: readonly number[];
  readonly pieces: number;
  /** Of the messages, those with the first piece. */
  readonly heads: readonly number[];
  /** Of what was retried or dropped: its first piece is gone, which came first and goes first. */
  readonly isRemains: boolean;
  /** In which it lay. */
  readonly shard: number;
}

/** Everything that is there, in the order in which it came. @throws as `QuarantineMessages` */
export async function look(messages: QuarantineMessages): Promise<Kept[]> {
  const uploads = new Map<string, Piece[]>();
  for await (const message of messages.all()) {
    const piece = toPiece(message);
    // Set aside again after the server's max_payload was changed, it is cut elsewhere.
    const key = `${piece.upload} ${piece.count}`;
    const others = uploads.get(key);
    if (others === undefined) uploads.set(key, [piece]);
    else others.push(piece);
  }
  return [...uploads.values()].map(describe);
}

/** What is looked at of a message. Its body may be large, and there may be many. */
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
  /** The beginning of its body: header and owner of a frame, in its first piece, else nothing. */
  readonly head: Buffer;
}

const headBytes = 4096;

function toPiece({ seq, time, header, data }: StoredMsg): Piece {
  const text = (name: string) => header?.get(name) ?? '';
  const [, index = '0', count = '1'] = /^(\d+)\/(\d+)$/.exec(text(headers.chunk)) ?? [];
  const mayBegin = index === '0' && !(count === '1' && isDamaged(data));
  return {
    sequence: seq,
    setAsideAtMs: time.getTime(),
    upload: text(headers.upload) || `message-${seq}`,
    index: Number(index),
    count: Number(count),
    // What an earlier version set aside does not say it: shard 0, which there always is.
    shard: Number(text(headers.shard)),
    reason: text(headers.reason),
    bytes: data.length,
    head: mayBegin ? Buffer.from(data.subarray(0, headBytes)) : Buffer.alloc(0),
  };
}

/** @param pieces of one upload, at least one; some may be there twice, or not at all. */
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

/** Of a frame that came whole in one message. */
function isDamaged(data: Uint8Array): boolean {
  const frame = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  const header = readFrameHeader(frame, 0);
  return header === undefined || !isBodyIntact(frame, 0, header);
}

/** Of the remains of a batch the id that it had, as its name begins with it. */
function toNameless({ sequence, upload }: Piece, isRemains: boolean): string {
  const [, id] = (isRemains && /^([0-9a-f]+-\d+)-\d+$/.exec(upload)) || [];
  return id ?? `message-${sequence}`;
}

function toId({ writer, sequence }: BatchId): string {
  return `${writer.toString(16)}-${sequence}`;
}
