/**
 * What this engine works on, from the moment its text is known: chDB's own list knows neither the
 * ids of queries nor those whose data still arrive, and keeps those that were killed. Killing needs
 * all of them.
 */
import { randomUUID } from 'node:crypto';
import { EngineException } from './exceptions.ts';

export interface QueryInfo {
  /** Empty = it was given none. */
  readonly queryId: string;
  readonly sql: string;
  readonly database: string;
  readonly settings: ReadonlyMap<string, string>;
}

export interface RunningQuery extends QueryInfo {
  /** To stand before its text, so that chDB can tell it from all others. */
  readonly mark: string;
  /** Fires when it shall end. */
  readonly killed: AbortSignal;
  /** From `performance.now()`. */
  readonly began: number;
  /** To be called before chDB is given it. @throws EngineException 394 when it was killed before */
  start(): void;
  end(): void;
  /** Resolves once it can have no effect any more; to be called again and again does no harm. */
  kill(): Promise<void>;
}

export interface RunningQueries {
  /** The caller calls `end` in every case. */
  add(query: QueryInfo): RunningQuery;
  all(): RunningQuery[];
}

/** chDB may not know a query yet that was just given to it. */
const killAgainMillis = 100;

/** @param killMarked tells chDB to end the query whose text starts with this mark */
export function createRunningQueries(killMarked: (mark: string) => void): RunningQueries {
  const running = new Set<RunningQuery>();
  return {
    all: () => [...running],
    add(info) {
      const mark = `/* ${randomUUID()} */`;
      const killing = new AbortController();
      const ended = Promise.withResolvers<void>();
      let isStarted = false;
      const query: RunningQuery = {
        ...info,
        mark,
        began: performance.now(),
        killed: killing.signal,
        start() {
          if (killing.signal.aborted) throw new EngineException(394, 'the query was killed');
          isStarted = true;
        },
        end() {
          running.delete(query);
          ended.resolve();
        },
        async kill() {
          killing.abort();
          if (!isStarted) return;
          const again = setInterval(() => killMarked(mark), killAgainMillis);
          killMarked(mark);
          await ended.promise;
          clearInterval(again);
        },
      };
      running.add(query);
      return query;
    },
  };
}
