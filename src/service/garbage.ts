/**
 * Collects the garbage of a burst once it is over. V8 lets garbage grow in proportion to what was
 * alive at its last collection, so after large requests a quiet process would keep a gigabyte.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

export interface GarbageOptions {
  readonly memoryInFlight: () => number;
  /** The process counts as quiet up to this much memory in flight. */
  readonly quietBytes: number;
  /** Bytes of the heap and of buffers outside it, garbage included. */
  readonly usedBytes?: () => number;
  readonly collect?: () => Promise<void>;
  readonly checkEveryMs?: number;
}

/** Garbage that is worth a collection, which blocks the event loop for some 50 ms. */
const garbageBytes = 128 * 1024 * 1024;
/** Consecutive quiet checks before a collection. */
const quietChecks = 3;
/** Checks between two collections: many reads make garbage while ingest is quiet. */
const pausedChecks = 30;

export function collectAfterBursts({
  memoryInFlight,
  quietBytes,
  usedBytes = usedMemory,
  collect = toCollect(),
  checkEveryMs = 1_000,
}: GarbageOptions): Disposable {
  let keptBytes = 0;
  let quiet = 0;
  let paused = 0;
  const timer = setInterval(() => {
    quiet = memoryInFlight() <= quietBytes ? quiet + 1 : 0;
    const bytes = usedBytes();
    // V8 may have collected since.
    keptBytes = Math.min(keptBytes, bytes);
    paused -= 1;
    if (paused > 0 || quiet < quietChecks || bytes <= keptBytes + garbageBytes) return;
    paused = pausedChecks;
    void collect().then(() => (keptBytes = usedBytes()));
  }, checkEveryMs).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

function usedMemory(): number {
  const { heapTotal, external } = process.memoryUsage();
  return heapTotal + external;
}

type Collect = (options: { type: 'major'; execution: 'async' }) => Promise<void>;

/** New contexts have the function as long as the flag is set. */
function toCollect(): () => Promise<void> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as Collect;
  setFlagsFromString('--no-expose-gc');
  return () => collect({ type: 'major', execution: 'async' });
}
