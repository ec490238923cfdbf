/**
 * Pauses merges of logs during a series of large inserts, since both need the CPU. One merge of
 * many parts afterwards costs less than the levels of merges meanwhile, whose sources also stay on
 * disk for a minute.
 */
import type { Connection } from '../connection.ts';
import { compileMerges, compileMutations } from '../sql/housekeeping.ts';
import type { Placement } from '../sql/tables.ts';

/** Payload bytes of an insert under a heavy load. */
const largeBytes = 16 * 2 ** 20;
/** As many parts as one merge takes (`max_parts_to_merge_at_once`). */
const pausedInserts = 100;
/** Longer than most inserts under a heavy load. */
const quietMs = 5_000;

export interface MergePause {
  /**
   * Before the first large insert of a series, stops merges for a hundred of them; they run during
   * the next hundred, and from five seconds after the last one.
   */
  beforeInsert(bytes: number): Promise<void>;
  close(): void;
}

/** Only for an engine without other writers: it starts with merges, and ends with this process. */
export function createMergePause(
  connection: Pick<Connection, 'execute' | 'query'>,
  placement: Placement,
): MergePause {
  let inserts = 0;
  let isPaused = false;
  let timer: NodeJS.Timeout | undefined;

  async function pause(): Promise<void> {
    if (isPaused) return;
    // STOP would cancel a mutation, and fail the statement that waits for it.
    const [row] = await connection.query<[string]>('insert', compileMutations(placement));
    if (row?.[0] !== '0') return;
    // Before the answer: a statement that fails may have stopped merges.
    isPaused = true;
    await connection.execute('insert', compileMerges(placement, 'STOP'));
  }

  async function resume(): Promise<void> {
    if (!isPaused) return;
    await connection.execute('insert', compileMerges(placement, 'START'));
    isPaused = false;
  }

  function resumeWhenQuiet(): void {
    clearTimeout(timer);
    timer = setTimeout(() => {
      inserts = 0;
      // An engine that restarts has its merges; an unreachable one is asked again.
      resume().catch(resumeWhenQuiet);
    }, quietMs).unref();
  }

  return {
    async beforeInsert(bytes) {
      if (bytes < largeBytes) return;
      resumeWhenQuiet();
      const isPausing = Math.floor(inserts++ / pausedInserts) % 2 === 0;
      // The insert reports an unreachable store.
      await (isPausing ? pause() : resume()).catch(() => undefined);
    },
    close: () => clearTimeout(timer),
  };
}
