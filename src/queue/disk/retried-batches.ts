/**
 * Quarantined batches that an operator asked to retry. They keep their ids, by which rows already
 * stored are found, and get a new receive time, so that live tails see them.
 */
import { join } from 'node:path';
import type { BatchId, StampedBatch } from '../../model/batch.ts';
import type { QueueEvents } from '../../telemetry/queue-events.ts';
import { frameHeaderBytes, readFrameHeader } from '../frame.ts';
import type { Taken, TakeLimits } from '../port.ts';
import type { DiskQueue } from './disk-queue.ts';
import type { FileSystem } from '../../files/file-system.ts';
import { reading, readRange } from '../../files/atomic-file.ts';
import { smaller } from '../../std/big-integers.ts';
import {
  damagedSuffix,
  listStems,
  batchSuffix,
  noteSuffix,
  readBatch,
  removeFiles,
  retrySuffix,
} from './quarantine-folder.ts';
import { toError } from '../../std/error-text.ts';

interface RetryParts {
  readonly fs: FileSystem;
  /** Of the quarantine. */
  readonly folder: string;
  readonly telemetry: QueueEvents;
}

interface Waiting {
  readonly stem: string;
  readonly id: BatchId;
  readonly rows: number;
  readonly bytes: number;
}

/** An earlier attempt may have stamped rows before the clock was set back. */
const clockSlackNanos = 3_600_000_000_000n;

/** Read by the main thread, which must not block for long. */
const maxTakeBytes = 8 * 1024 * 1024;

/**
 * Finds the batches to retry. The file of one that is still in the log is removed: its rows may be
 * stored under the log's receive time.
 */
export async function openRetriedBatches(
  parts: RetryParts,
  log: Pick<DiskQueue, 'holds' | 'stamp'>,
): Promise<RetriedBatches> {
  const found = listStems(parts.fs, parts.folder, retrySuffix).flatMap(
    (stem) => measure(parts, stem) ?? [],
  );
  if (found.length === 0) return new RetriedBatches(parts, found, 0n);
  const inLog = await log.holds(found.map(({ id }) => id));
  for (const { stem } of found.filter((_, index) => inLog[index])) {
    attempt(parts, stem, () => removeFiles(parts.fs, parts.folder, namesOf(stem)));
  }
  const waiting = found.filter((_, index) => !inLog[index]);
  if (waiting.length > 0) parts.telemetry.retriesFound({ batches: waiting.length });
  return new RetriedBatches(parts, waiting, log.stamp());
}

export class RetriedBatches {
  readonly #parts: RetryParts;
  readonly #receivedAtNanos: bigint;
  readonly #waiting: Waiting[];
  readonly #taken = new Map<StampedBatch, Waiting>();

  /** @param receivedAtNanos Unix ns; later than any watermark so far */
  constructor(parts: RetryParts, waiting: readonly Waiting[], receivedAtNanos: bigint) {
    this.#parts = parts;
    this.#waiting = [...waiting];
    this.#receivedAtNanos = receivedAtNanos;
  }

  get batches(): number {
    return this.#waiting.length + this.#taken.size;
  }

  get rows(): number {
    return this.#remaining().reduce((sum, { rows }) => sum + rows, 0);
  }

  get bytes(): number {
    return this.#remaining().reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Unix ns: the watermark stays below it until they are done; undefined without any. */
  get oldestNanos(): bigint | undefined {
    return this.batches === 0 ? undefined : this.#receivedAtNanos;
  }

  /** The next batches, if any. Skips unreadable files; one without an intact frame is renamed. */
  take({ maxRows, maxBytes }: TakeLimits): Pick<Taken, 'batches' | 'bytes'> {
    const batches: StampedBatch[] = [];
    const mostBytes = Math.min(maxBytes, maxTakeBytes);
    let rowsLeft = maxRows;
    let bytes = 0;
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      rowsLeft -= next.rows;
      if (batches.length > 0 && (rowsLeft < 0 || bytes + next.bytes > mostBytes)) break;
      this.#waiting.shift();
      const batch = this.#read(next);
      if (batch === undefined) continue;
      this.#taken.set(batch, next);
      batches.push(batch);
      bytes += next.bytes;
    }
    return { batches, bytes };
  }

  has(batch: StampedBatch): boolean {
    return this.#taken.has(batch);
  }

  /** To be called once these are stored or quarantined again; durable on return. */
  done(batches: readonly StampedBatch[]): void {
    const { fs, folder } = this.#parts;
    const again = new Set(listStems(fs, folder, batchSuffix));
    const stems = batches.flatMap((batch) => this.#taken.get(batch)?.stem ?? []);
    const names = stems.flatMap((stem) => (again.has(stem) ? [stem + retrySuffix] : namesOf(stem)));
    removeFiles(fs, folder, names);
    for (const batch of batches) this.#taken.delete(batch);
  }

  #remaining(): Waiting[] {
    return [...this.#waiting, ...this.#taken.values()];
  }

  #read({ stem, bytes }: Waiting): StampedBatch | undefined {
    const { fs, folder } = this.#parts;
    return attempt(this.#parts, stem, () => {
      const batch = readBatch(fs, folder, stem + retrySuffix);
      if (batch !== undefined) return this.#restamp(batch);
      return keepDamaged(this.#parts, stem, bytes);
    });
  }

  #restamp(batch: StampedBatch): StampedBatch {
    const receivedAtNanos = this.#receivedAtNanos;
    const fromNanos = smaller(batch.receivedAtNanos, receivedAtNanos - clockSlackNanos);
    const untilNanos = receivedAtNanos + clockSlackNanos;
    return { ...batch, receivedAtNanos, copies: { fromNanos, untilNanos } };
  }
}

/** @returns undefined where the file is unreadable or no batch */
function measure(parts: RetryParts, stem: string): Waiting | undefined {
  const { fs, folder } = parts;
  return attempt(parts, stem, () =>
    reading(fs, join(folder, stem + retrySuffix), (file) => {
      const bytes = fs.size(file);
      const header = readFrameHeader(readRange(fs, file, 0, frameHeaderBytes), 0);
      if (header === undefined) return keepDamaged(parts, stem, bytes);
      const { writer, sequence, rows } = header;
      return { stem, id: { writer, sequence }, rows, bytes };
    }),
  );
}

function keepDamaged(
  { fs, folder, telemetry }: RetryParts,
  stem: string,
  bytes: number,
): undefined {
  const quarantineFile = join(folder, stem + damagedSuffix);
  fs.rename(join(folder, stem + retrySuffix), quarantineFile);
  fs.syncDirectory(folder);
  const sequence = /^\d+$/.test(stem) ? BigInt(stem) : 0n;
  telemetry.damageFound({
    kind: 'corrupt',
    segment: stem + retrySuffix,
    offset: 0,
    bytes,
    fromSequence: sequence,
    toSequence: sequence,
    batches: 1,
    quarantineFile,
  });
}

/** An unreadable file must not block the log. */
function attempt<T>(parts: RetryParts, stem: string, action: () => T): T | undefined {
  try {
    return action();
  } catch (thrown) {
    const error = toError(thrown);
    parts.telemetry.retryUnreadable({ file: join(parts.folder, stem + retrySuffix), error });
    return undefined;
  }
}

/** The note first: a note without a batch is not listed. */
function namesOf(stem: string): string[] {
  return [stem + noteSuffix, stem + retrySuffix];
}
