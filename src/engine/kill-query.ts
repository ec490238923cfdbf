/**
 * The queries that the engine runs, and `KILL QUERY WHERE … [ASYNC|SYNC|TEST]` over them
 * (https://clickhouse.com/docs/sql-reference/statements/kill). chDB's own list lacks query ids and
 * the queries whose data still arrive, and keeps killed ones; chDB only evaluates the condition.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { EngineException } from './exceptions.ts';
import { stringLiteral, type Token, tokenize } from './sql-tokens.ts';

export interface QueryInfo {
  /** Empty = none was sent. */
  readonly queryId: string;
  readonly sql: string;
  readonly database: string;
  readonly settings: ReadonlyMap<string, string>;
}

export interface RunningQuery extends QueryInfo {
  /** A comment before its text, by which chDB finds it. */
  readonly mark: string;
  readonly killed: AbortSignal;
  /** From `performance.now()`. */
  readonly began: number;
  /** To be called before chDB runs it. @throws EngineException 394 when it was killed already */
  start(): void;
  end(): void;
  /** Resolves once the query can have no effect any more. Idempotent. */
  kill(): Promise<void>;
}

/** chDB does not find a query that it has only just received. */
const killAgainMillis = 100;

export type RunningQueries = ReturnType<typeof createRunningQueries>;

/** @param killMarked makes chDB end the queries whose texts start with one of these marks */
export function createRunningQueries(killMarked: (marks: readonly string[]) => Promise<void>) {
  const running = new Set<RunningQuery>();
  /** Marks of queries that chDB has to end. */
  const unended = new Set<string>();
  let isKilling = false;

  /** One statement at a time: where chDB is slow they would queue up ahead of the heartbeat. */
  async function killUnended(): Promise<void> {
    if (isKilling) return;
    isKilling = true;
    while (unended.size > 0) {
      await killMarked([...unended]);
      await delay(killAgainMillis);
    }
    isKilling = false;
  }

  return {
    all: () => [...running],
    /** The caller calls `end` in every case. */
    add(info: QueryInfo): RunningQuery {
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
          unended.delete(mark);
          ended.resolve();
        },
        async kill() {
          killing.abort();
          if (!isStarted || !running.has(query)) return;
          unended.add(mark);
          void killUnended();
          await ended.promise;
        },
      };
      running.add(query);
      return query;
    },
  };
}

export interface KillStatement {
  /** Over the columns of `system.processes` in `columns` below. */
  readonly condition: string;
  readonly mode: 'ASYNC' | 'SYNC' | 'TEST';
  /** Format of the result; undefined when the text names none. */
  readonly format: string | undefined;
}

/**
 * @returns undefined for every other statement
 * @throws EngineException 48 for what a single engine cannot do, 62 without a condition
 */
export function parseKill(sql: string): KillStatement | undefined {
  const tokens = tokenize(sql);
  if (tokens.next().value?.text !== 'KILL') return undefined;
  const rest = [...tokens];
  if (rest[0]?.text !== 'QUERY') return undefined;
  if (rest.at(-1)?.text === ';') rest.pop();
  const format = takeFormat(sql, rest);
  if (rest[1]?.text !== 'WHERE') {
    throw new EngineException(48, 'cannot read KILL QUERY: write KILL QUERY WHERE condition');
  }
  const mode = takeMode(rest);
  const condition = sql.slice(rest[1].end, rest.at(-1)?.end).trim();
  if (condition === '') throw new EngineException(62, 'cannot read KILL QUERY: no condition');
  return { condition, mode, format };
}

function takeFormat(sql: string, tokens: Token[]): string | undefined {
  const [word, name] = tokens.slice(-2);
  if (word?.text !== 'FORMAT' || name?.kind !== 'word') return undefined;
  tokens.splice(-2);
  return sql.slice(name.start, name.end);
}

function takeMode(tokens: Token[]): KillStatement['mode'] {
  const word = tokens.at(-1)?.text;
  if (word !== 'ASYNC' && word !== 'SYNC' && word !== 'TEST') return 'ASYNC';
  tokens.pop();
  return word;
}

/** Runs a statement on the control pool, with these query parameters (default: none). */
export type Control = (
  sql: string,
  format: string,
  parameters?: ReadonlyMap<string, Uint8Array>,
) => Promise<Uint8Array>;

/**
 * Kills the queries that the condition selects; SYNC waits until they have ended.
 * @returns the result in that format: kill_status, query_id, user, query of each
 */
export async function runKill(
  { condition, mode }: KillStatement,
  running: readonly RunningQuery[],
  control: Control,
  format: string,
): Promise<Uint8Array> {
  const limit = `SETTINGS max_execution_time = ${conditionSeconds}`;
  const sql = `SELECT number FROM (${processesSql(running)}) WHERE (${condition}\n) ${limit}`;
  const numbers = Buffer.from(await control(sql, 'TabSeparated')).toString();
  const found = numbers.split('\n').flatMap((line) => (line === '' ? [] : running[Number(line)]!));
  const kills = mode === 'TEST' ? [] : found.map((query) => query.kill());
  if (mode === 'SYNC') await Promise.all(kills);
  const status = mode === 'SYNC' ? 'finished' : 'waiting';
  const selected = `SELECT '${status}' AS kill_status, query_id, user, query`;
  return control(`${selected} FROM (${processesSql(found)})`, format);
}

/** Shorter than the timeout after which the engine counts as hanging. */
const conditionSeconds = 3;
/** Length of a query's text that a condition sees. */
const maxTextLength = 65_536;

/** Columns with their types and, for each query, their values as SQL. */
const columns: readonly (readonly [
  name: string,
  type: string,
  value: (query: RunningQuery, number: number) => string,
])[] = [
  ['number', 'UInt64', (_, number) => String(number)],
  ['is_initial_query', 'UInt8', () => '1'],
  ['user', 'String', () => "'default'"],
  ['query_id', 'String', ({ queryId }) => stringLiteral(queryId)],
  ['initial_user', 'String', () => "'default'"],
  ['initial_query_id', 'String', ({ queryId }) => stringLiteral(queryId)],
  ['elapsed', 'Float64', ({ began }) => String((performance.now() - began) / 1000)],
  ['query', 'String', ({ sql }) => stringLiteral(sql.slice(0, maxTextLength))],
  ['current_database', 'String', ({ database }) => stringLiteral(database)],
  ['Settings', 'Map(String, String)', ({ settings }) => mapLiteral(settings)],
];

/** A SELECT of these queries, numbered by their place in the list. */
function processesSql(queries: readonly RunningQuery[]): string {
  if (queries.length === 0) {
    const defaults = columns.map(([name, type]) => `defaultValueOfTypeName('${type}') AS ${name}`);
    return `SELECT ${defaults.join(', ')} WHERE 0`;
  }
  const names = columns.map(([name]) => name).join(', ');
  const structure = columns.map(([name, type]) => `${name} ${type}`).join(', ');
  const rows = queries.map((query, number) => {
    return `(${columns.map(([, , value]) => value(query, number)).join(', ')})`;
  });
  return `SELECT ${names} FROM values('${structure}', ${rows.join(', ')})`;
}

function mapLiteral(map: ReadonlyMap<string, string>): string {
  if (map.size === 0) return "CAST(map(), 'Map(String, String)')";
  return `map(${[...map].flat().map(stringLiteral).join(', ')})`;
}
