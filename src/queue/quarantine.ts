/**
 * What an operator can do with batches that the store refused for good, wherever the queue keeps
 * them. It knows nothing of why a store refuses.
 */
import type { BatchOwner, Layout } from '../model/batch.ts';

/** A batch, or bytes that are none, as they lie in quarantine. */
export interface SetAside {
  /** Of a batch: writer in hex, `-`, sequence; the same in the log line that told of it. */
  readonly id: string;
  /** Unix ms. */
  readonly setAsideAtMs: number;
  readonly bytes: number;
  readonly reason: string;
  /** `next start`: a service that is started on it tries it again. */
  readonly retry: 'no' | 'next start';
  /** Undefined where the bytes are no batch, which can only be dropped. */
  readonly batch:
    | { readonly layout: Layout; readonly rows: number; readonly owner: BatchOwner }
    | undefined;
}

export interface Quarantine {
  /** The oldest first. @throws Error in words for the operator */
  list(): Promise<SetAside[]>;
  /**
   * Lets the batch be drained again, each of its rows stored once, whatever was stored of it
   * before; it leaves the quarantine only once that is certain.
   * @throws Error in words for the operator; then it is still there
   */
  retry(id: string): Promise<void>;
  /** Forgets it for good. @throws Error in words for the operator */
  drop(id: string): Promise<void>;
  close(): Promise<void>;
}

/** @throws Error that says how to find the right one */
export function notSetAside(id: string): Error {
  return new Error(`cannot find ${id} in quarantine: weir quarantine list shows what is there`);
}

/** @throws Error that says what can be done with it */
export function notABatch(id: string): Error {
  return new Error(
    `cannot retry ${id}: its bytes are no whole batch; keep them elsewhere, then drop it`,
  );
}
