/** Reads the streams of a queue at NATS without consuming them. */
import assert from 'node:assert/strict';
import {
  JetStreamApiError,
  type JetStreamManager,
  type StoredMsg,
  type StreamAPI,
} from '@nats-io/jetstream';
import type { StampedBatch } from '../../src/model/batch.ts';
import { decodeFrame, isBodyIntact, readFrameHeader } from '../../src/queue/frame.ts';
import { createQueueNames, type NatsSettings } from '../../src/queue/nats/connection.ts';
import { headers, messageKinds } from '../../src/queue/nats/messages.ts';
import { parseStreamTime } from '../../src/queue/nats/nats-queue.ts';
import { until } from '../harness/until.ts';
import { withManager } from './nats-server.ts';

export interface StoredBatch extends StampedBatch {
  readonly shard: number;
  /** Sequence of the message that completes it. */
  readonly message: number;
  readonly timeNanos: bigint;
  readonly copiesSince: string;
}

/** In the order of each shard, with duplicates. */
export async function readBatches(
  servers: string[],
  { prefix, shards }: Pick<NatsSettings, 'prefix' | 'shards'>,
): Promise<StoredBatch[]> {
  const names = createQueueNames(prefix);
  const readAll = async ({ streams }: JetStreamManager) => {
    const found: StoredBatch[] = [];
    for (let shard = 0; shard < shards; shard++) {
      const stream = names.stream(shard);
      const uploads = new Map<string, Buffer[]>();
      for await (const stored of readMessages(streams, stream)) {
        for (const frame of framesOf(stored, uploads)) {
          found.push({
            ...decodeFrame(frame),
            shard,
            message: stored.seq,
            timeNanos: parseStreamTime(stored.timestamp),
            copiesSince: stored.header.get(headers.copies),
          });
        }
      }
    }
    return found;
  };
  return withManager(servers, readAll, 20_000);
}

/** The state of each stream, a line each. */
export function describeStreams(
  servers: string[],
  { prefix, shards }: Pick<NatsSettings, 'prefix' | 'shards'>,
): Promise<string> {
  const names = createQueueNames(prefix);
  return withManager(servers, async ({ streams }) => {
    const lines: string[] = [];
    for (let shard = 0; shard < shards; shard++) {
      const { created, state } = await streams.info(names.stream(shard));
      lines.push(`${names.stream(shard)} made ${created}: ${JSON.stringify(state)}`);
    }
    return lines.join('\n');
  });
}

async function* readMessages(streams: StreamAPI, stream: string): AsyncGenerator<StoredMsg> {
  const { state } = await streams.info(stream);
  for (let from = Math.max(state.first_seq, 1); from <= state.last_seq; from += 100) {
    const count = Math.min(100, state.last_seq - from + 1);
    const asked = Array.from({ length: count }, (_, index) => read(streams, stream, from + index));
    for (const stored of await Promise.all(asked)) if (stored !== null) yield stored;
  }
}

/** Waits for a leader. */
function read(streams: StreamAPI, stream: string, seq: number): Promise<StoredMsg | null> {
  const attempt = async () => {
    try {
      return { message: await streams.getMessage(stream, { seq }) };
    } catch (error) {
      if (error instanceof JetStreamApiError && error.status === 503) return undefined;
      throw error;
    }
  };
  return until(attempt, { what: `message ${seq} of ${stream}` }).then(({ message }) => message);
}

function framesOf(stored: StoredMsg, uploads: Map<string, Buffer[]>): Buffer[] {
  const kind = stored.header.get(headers.kind);
  const data = Buffer.from(stored.data);
  if (kind === messageKinds.tick) return [];
  if (kind === messageKinds.frames) return splitFrames(data);
  assert.equal(kind, messageKinds.chunk);
  const upload = stored.header.get(headers.upload);
  const [index = 0, count] = stored.header.get(headers.chunk).split('/').map(Number);
  const pieces = uploads.get(upload) ?? [];
  uploads.set(upload, pieces);
  // A killed server may have begun to remove the pieces of a stored batch.
  if (index > pieces.length) return [];
  assert.ok(index >= pieces.length - 1, 'pieces are not in order');
  pieces[index] = data;
  return pieces.length === count ? splitFrames(Buffer.concat(pieces)) : [];
}

function splitFrames(data: Buffer): Buffer[] {
  const frames: Buffer[] = [];
  for (let offset = 0; offset < data.length; ) {
    const header = readFrameHeader(data, offset);
    assert.ok(
      header !== undefined && isBodyIntact(data.subarray(offset), header),
      'no intact frame',
    );
    frames.push(data.subarray(offset, offset + header.length));
    offset += header.length;
  }
  return frames;
}
