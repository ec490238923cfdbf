/**
 * What things are called at NATS, and what travels under these names. One prefix for each Weir;
 * everything of a shard is numbered. Pure.
 */
import type { BatchId } from '../../model/batch.ts';

export interface QueueNames {
  /** Streams of work, one for each shard: `weir_0`, … */
  stream(shard: number): string;
  /**
   * The shard of a fencing token: a stream that was created again is another shard.
   * @param created as in StreamInfo
   */
  shardName(shard: number, created: string): string;
  /** Subject of a shard's messages, what its stream takes: `weir.queue.0`, … */
  subject(shard: number): string;
  /** Stream of what the store would never take: `weir_quarantine`. */
  readonly quarantineStream: string;
  readonly quarantineSubject: string;
  /** Bucket of the leases: one key a shard. */
  readonly leases: string;
  /** Bucket of the idempotency keys, by the hex digest of receiver and key. */
  readonly keys: string;
  /** Bucket of what every node must hear of: the key `series` counts `forgetSeries`. */
  readonly signals: string;
  /** Core subject of a shard's progress: `weir.progress.0`; `*` listens to all. */
  progress(shard: number | '*'): string;
}

export function createQueueNames(prefix: string): QueueNames {
  return {
    stream: (shard) => `${prefix}_${shard}`,
    shardName: (shard, created) => `${prefix}_${shard}@${Date.parse(created)}`,
    subject: (shard) => `${prefix}.queue.${shard}`,
    quarantineStream: `${prefix}_quarantine`,
    quarantineSubject: `${prefix}.quarantine`,
    leases: `${prefix}_leases`,
    keys: `${prefix}_keys`,
    signals: `${prefix}_signals`,
    progress: (shard) => `${prefix}.progress.${shard}`,
  };
}

/** Headers of a message in a shard's stream. */
export const headers = {
  /** What its body is: one of `messageKinds`. */
  kind: 'Weir-Kind',
  /** Of a chunk: `<index>/<count>`, from 0. */
  chunk: 'Weir-Chunk',
  /**
   * Of a chunk: what the pieces of one attempt to send a frame have in common, `<id of the batch>.
   * <attempt>`. A batch may be sent by several attempts, whose bytes may differ; once one of them
   * is completed, nothing of the others is needed.
   */
  upload: 'Weir-Upload',
  /**
   * Of batches that may be in the queue or the store already: decimal Unix ns since when, by a
   * clock that is not the stream's. It holds for all frames of the message; a chunked batch has it
   * where one of its chunks does.
   */
  copies: 'Weir-Copies-Since',
  /** Of what was set aside: the number of the shard in which it lay. */
  shard: 'Weir-Shard',
  /**
   * Of batches: decimal Unix ms, by the gateway's clock, before which it was certainly not sent.
   * One that comes long after may have been given up, sent again, drained and forgotten by NATS.
   */
  sent: 'Weir-Sent',
  /** In the quarantine: why it is there. */
  reason: 'Weir-Reason',
} as const;

/** Of a body in a shard's stream at most, whatever larger ones the server takes. */
export const maxMessageBytes = 512 * 1024;
/** Room that a message leaves below the server's `max_payload`, for its headers. */
export const headroomBytes = 4096;

/**
 * Of a body in a shard's stream.
 * @param maxPayload of the server; undefined = not told yet
 */
export function toMessageBytes(maxPayload = Number.POSITIVE_INFINITY): number {
  return Math.min(maxPayload - headroomBytes, maxMessageBytes);
}

/** What a batch is called in ids of messages and names of uploads. */
export function toBatchName({ writer, sequence }: BatchId): string {
  return [writer, sequence].map((part) => part.toString(16).padStart(16, '0')).join('');
}

export const messageKinds = {
  /** Whole frames (see frame.ts), one after the other. */
  frames: 'frames',
  /**
   * A piece of one frame. The pieces of an upload come in order, other messages between them; each
   * is published when the one before was acknowledged, the last within 30 s of the first. One may
   * come twice, the last also when the upload is complete already.
   */
  chunk: 'chunk',
  /** Empty: only its time counts. */
  tick: 'tick',
} as const;

/** What a writer tells of a shard on its progress subject, as JSON. */
export interface ShardProgress {
  readonly shard: number;
  /** Decimal epoch of the holder, and how many it sent before with it: a gap is a loss. */
  readonly epoch: string;
  readonly number: number;
  /** Decimal Unix ns, as in `Progress`, of this shard alone. */
  readonly watermarkNanos: string;
  /**
   * Decimal Unix ns by stream id: what was stored of logs since it was last told. `*` = in any
   * stream.
   */
  readonly newestReceipts: Readonly<Record<string, string>>;
}
