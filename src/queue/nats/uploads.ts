/**
 * Batches of several messages whose pieces have not all come: in memory, until the last one has, or
 * none can come any more. Pure.
 */

export interface Chunk {
  /** `<batch>.<attempt>` */
  readonly upload: string;
  readonly index: number;
  readonly count: number;
}

/** A message of the stream, as `QueuedMessage`. */
export interface Piece {
  readonly sequence: number;
  readonly timeNanos: bigint;
  readonly isSuspect: boolean;
  readonly copiesSinceNanos?: bigint | undefined;
  readonly data: Buffer;
}

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
 * An upload that is not whole by then, in the time of the stream, never will be: its gateway gives
 * up after 30 s, and then acknowledges nothing. Before, none may be dropped, however many there
 * are: the last piece may lie in the stream already, acknowledged and not yet read. What gateways
 * admit at a time, those that were killed within a minute included, is what bounds them.
 */
const uploadLifeNanos = 60_000_000_000n;
/** A body larger than this comes from nowhere good. */
const maxChunks = 100_000;

export class Uploads {
  /** In the order of their beginning. */
  readonly #begun = new Map<string, Upload>();

  /** @returns the upload, which is forgotten here once nothing of it is missing. */
  add(message: Piece, chunk: Chunk): Upload | 'begun before' | 'another count' {
    const upload = this.#begun.get(chunk.upload) ?? this.#begin(message, chunk);
    if (upload === undefined) return 'begun before';
    if (upload.pieces.length !== chunk.count) return 'another count';
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

  /** Forgets other attempts with a batch that is whole now. @returns their messages */
  dropOthers(upload: string): number[] {
    const others = [...this.#begun].filter(([name]) => batchOf(name) === batchOf(upload));
    for (const [name] of others) this.#begun.delete(name);
    return others.flatMap(([, { messages }]) => messages);
  }

  /** Forgets what never will be whole. @returns its messages, and how many uploads these were */
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

/** Whether a message can be such a piece. */
export function isPossible({ index, count }: Chunk): boolean {
  return Number.isInteger(count) && count <= maxChunks && index >= 0 && index < count;
}

function batchOf(upload: string): string {
  return upload.split('.', 1)[0] ?? '';
}

function earliest(a: bigint | undefined, b: bigint | undefined): bigint | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return a < b ? a : b;
}
