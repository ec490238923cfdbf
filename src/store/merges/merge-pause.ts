/**
 * Pauses merges of a table at the start of a series of large inserts, since both need the CPU. One
 * merge of many parts afterwards costs less than the levels of merges meanwhile, whose sources also
 * stay on disk for a minute.
 */
import type { Connection } from '../connection.ts';
import { compileCountMutations, compileMerges } from '../sql/housekeeping.ts';
import type { Placement } from '../sql/tables.ts';

/** Payload bytes of an insert under a heavy load: some 50,000 logs, or 250,000 samples. */
const largeBytes = { logs: 16 * 2 ** 20, samples: 8 * 2 ** 20 };
/** Large inserts in a row that make a series; senders that flush at times cause fewer. */
const seriesInserts = 4;
/** Without a large insert the series ends. Longer than most inserts under a heavy load. */
const quietMs = 5_000;
/** As many parts as one merge takes (`max_parts_to_merge_at_once`). */
const pausedInserts = 100;
const pauseMs = 60_000;
/** From the start of a pause to the next: each cancels the merges that run. */
const pauseEveryMs = 300_000;

export type MergePause = ReturnType<typeof createMergePause>;

export interface MergedTable {
  readonly placement: Placement;
  /** One with most of the rows. */
  readonly table: keyof typeof largeBytes;
}

/** Only for an engine without other writers: it starts with merges, and ends with this process. */
export function createMergePause(
  connection: Pick<Connection, 'execute' | 'query'>,
  { placement, table }: MergedTable,
  now: () => number = () => performance.now(),
) {
  let largeInserts = 0;
  let insertsOfPause = 0;
  let pauseUntil = 0;
  let nextPauseAt = 0;
  let wantsPause = false;
  /** Whether the engine may have stopped merges. */
  let isPaused = false;
  let settling: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;

  const execute = (action: 'START' | 'STOP') =>
    connection.execute('insert', compileMerges(placement, table, action));

  async function isMutating(): Promise<boolean> {
    const count = compileCountMutations(placement, [table]);
    const [row] = await connection.query<[string]>('insert', count);
    return row?.[0] !== '0';
  }

  /** One statement at a time: a START may not overtake a STOP. */
  async function follow(): Promise<void> {
    while (isPaused !== wantsPause) {
      if (isPaused) {
        await execute('START');
        isPaused = false;
        continue;
      }
      // STOP would cancel a mutation, and fail the statement that waits for it.
      if (await isMutating()) return;
      if (!wantsPause) return;
      isPaused = true;
      await execute('STOP');
    }
  }

  async function settle(): Promise<void> {
    settling ??= follow().finally(() => (settling = undefined));
    await settling;
  }

  function resumeWhenQuiet(): void {
    clearTimeout(timer);
    timer = setTimeout(() => {
      largeInserts = 0;
      wantsPause = false;
      // An engine that restarts has its merges; an unreachable one is asked again.
      settle().catch(resumeWhenQuiet);
    }, quietMs).unref();
  }

  return {
    /** From the fourth large insert of a series, stops merges for a hundred inserts or a minute. */
    async beforeInsert(bytes: number): Promise<void> {
      if (bytes >= largeBytes[table]) {
        largeInserts++;
        resumeWhenQuiet();
      }
      if (largeInserts < seriesInserts) return;
      if (wantsPause) {
        wantsPause = ++insertsOfPause < pausedInserts && now() < pauseUntil;
      } else if (now() >= nextPauseAt) {
        wantsPause = true;
        insertsOfPause = 0;
        pauseUntil = now() + pauseMs;
        nextPauseAt = now() + pauseEveryMs;
      }
      // The insert reports an unreachable store.
      await settle().catch(() => undefined);
    },
    close: () => clearTimeout(timer),
  };
}
