/** Batches of several messages, in memory until the last piece comes or the upload times out. */
import type { Chunk, QueuedMessage } from './messages.ts';

type Piece = Omit<QueuedMessage, 'kind' | 'chunk'>;

export interface Upload {
  /** By the stream's clock, of the first piece. */
  readonly timeNanos: bigint;
  readonly pieces: (Buffer | undefined)[];
  readonly messages: number[];
  missing: number;
  isSuspect: boolean;
  copiesSinceNanos: bigint | undefined;
}

/**
 * By the clock of the stream. Gateways abandon an upload after 30 s and then do not acknowledge it.
 * An earlier upload must not be dropped: its last piece may be in the stream and acknowledged. The
 * memory for uploads is bounded by what gateways have in flight.
 */
const uploadLifeNanos = 60_000_000_000n;
const maxChunks = 100_000;

export class Uploads {
  /** In the order of their first pieces. */
  readonly #begun = new Map<string, Upload>();

  /** Whether a message can be such a piece. */
  static isPossible({ index, count }: Chunk): boolean {
    return count <= maxChunks && index < count;
  }

  /** @returns the upload, which is no longer kept here once it is complete */
  add(message: Piece, chunk: Chunk): Upload | 'begun earlier' | 'different count' {
    const upload = this.#begun.get(chunk.upload) ?? this.#begin(message, chunk);
    if (upload === undefined) return 'begun earlier';
    if (upload.pieces.length !== chunk.count) return 'different count';
    upload.messages.push(message.sequence);
    upload.isSuspect ||= message.isSuspect;
    upload.copiesSinceNanos = earliest(upload.copiesSinceNanos, message.copiesSinceNanos);
    if (upload.pieces[chunk.index] === undefined) {
      upload.pieces[chunk.index] = message.data;
      upload.missing--;
    }
    if (upload.missing === 0) this.#begun.delete(chunk.upload);
    return upload;
  }

  /** Drops other uploads of a batch that is complete. @returns their messages */
  dropOthers(upload: string): number[] {
    const others = [...this.#begun].filter(([name]) => batchOf(name) === batchOf(upload));
    for (const [name] of others) this.#begun.delete(name);
    return others.flatMap(([, { messages }]) => messages);
  }

  /** Drops uploads that timed out. @returns their messages, and how many uploads these were */
  dropStale(nowNanos: bigint): { readonly messages: number[]; readonly uploads: number } {
    const dropped = { messages: [] as number[], uploads: 0 };
    for (const [name, { timeNanos, messages }] of this.#begun) {
      if (timeNanos + uploadLifeNanos >= nowNanos) break;
      this.#begun.delete(name);
      dropped.uploads++;
      dropped.messages.push(...messages);
    }
    return dropped;
  }

  #begin({ timeNanos }: Piece, { upload: name, index, count }: Chunk) {
    if (index > 0) return undefined;
    const upload: Upload = {
      timeNanos,
      pieces: Array.from({ length: count }, () => undefined),
      messages: [],
      missing: count,
      isSuspect: false,
      copiesSinceNanos: undefined,
    };
    this.#begun.set(name, upload);
    return upload;
  }
}

function batchOf(upload: string): string {
  return upload.split('.', 1)[0] ?? '';
}

function earliest(a: bigint | undefined, b: bigint | undefined): bigint | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return a < b ? a : b;
}
