/** What an operator can do with batches that the store refused for their content. */
import type { BatchOwner, Layout } from '../model/batch.ts';

/** A batch in quarantine, or bytes that are no batch. */
export interface QuarantineEntry {
  /** Of a batch: writer in hex, `-`, sequence; as in the log line about it. */
  readonly id: string;
  /** Unix ms. */
  readonly quarantinedAtMs: number;
  readonly bytes: number;
  readonly reason: string;
  /** `next start`: retried when a service starts. */
  readonly retry: 'no' | 'next start';
  /** Undefined for bytes that are no batch, which can only be dropped. */
  readonly batch:
    | { readonly layout: Layout; readonly rows: number; readonly owner: BatchOwner }
    | undefined;
}

export interface Quarantine {
  /** The oldest first. @throws Error for the operator */
  list(): Promise<QuarantineEntry[]>;
  /**
   * Has the batch drained again. Rows already stored are not stored twice; the batch leaves the
   * quarantine only once that is certain.
   * @throws Error for the operator; the batch is then still there
   */
  retry(id: string): Promise<void>;
  /** Deletes it. @throws Error for the operator */
  drop(id: string): Promise<void>;
  close(): Promise<void>;
}

export function notInQuarantine(id: string): Error {
  return new Error(`cannot find ${id} in quarantine: weir quarantine list shows what is there`);
}

export function notABatch(id: string): Error {
  return new Error(
    `cannot retry ${id}: its bytes are no whole batch; keep them elsewhere, then drop it`,
  );
}
