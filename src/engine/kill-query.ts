/**
 * `KILL QUERY WHERE … [ASYNC|SYNC|TEST]` as ClickHouse has it
 * (https://clickhouse.com/docs/sql-reference/statements/kill), over all that this engine works on.
 * chDB decides which of them the condition means. SYNC resolves once none of those can have an
 * effect any more.
 */
import { EngineException } from './exceptions.ts';
import type { RunningQuery } from './running-queries.ts';
import { stringLiteral, type Token, tokenize } from './sql-tokens.ts';

export interface KillStatement {
  /** Over the columns of `system.processes` that `processesSql` has. */
  readonly condition: string;
  readonly mode: 'ASYNC' | 'SYNC' | 'TEST';
  /** Of the answer; undefined when the text names none. */
  readonly format: string | undefined;
}

/**
 * Undefined for every other statement.
 * @throws EngineException 48 for what a single engine cannot do, 62 for no condition
 */
export function parseKill(sql: string): KillStatement | undefined {
  const tokens = tokenize(sql);
  const first = tokens.next().value;
  if (first?.text !== 'KILL') return undefined;
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

export interface KillParts {
  readonly running: readonly RunningQuery[];
  readonly control: Control;
}

/** @returns the answer in that format: kill_status, query_id, user, query of each. */
export async function runKill(
  { condition, mode }: KillStatement,
  { running, control }: KillParts,
  format: string,
): Promise<Uint8Array> {
  const found = await matching(condition, running, control);
  const kills = mode === 'TEST' ? [] : found.map((query) => query.kill());
  if (mode === 'SYNC') await Promise.all(kills);
  const status = mode === 'SYNC' ? 'finished' : 'waiting';
  const answer = `SELECT '${status}' AS kill_status, query_id, user, query`;
  return control(`${answer} FROM (${processesSql(found)})`, format);
}

async function matching(
  condition: string,
  running: readonly RunningQuery[],
  control: Control,
): Promise<RunningQuery[]> {
  const limit = `SETTINGS max_execution_time = ${conditionSeconds}`;
  const sql = `SELECT number FROM (${processesSql(running)}) WHERE (${condition}\n) ${limit}`;
  const answer = Buffer.from(await control(sql, 'TabSeparated')).toString();
  const numbers = answer.split('\n').filter((line) => line !== '');
  return numbers.map((number) => running[Number(number)] as RunningQuery);
}

/** Less than the engine has for a trivial query before it counts as hanging. */
const conditionSeconds = 3;
/** Of a text, for a condition to look at. */
const maxTextLength = 65_536;

const columns = {
  number: 'UInt64',
  is_initial_query: 'UInt8',
  user: 'String',
  query_id: 'String',
  initial_user: 'String',
  initial_query_id: 'String',
  elapsed: 'Float64',
  query: 'String',
  current_database: 'String',
  Settings: 'Map(String, String)',
};

/** A SELECT of these queries, by their numbers in the list. */
function processesSql(queries: readonly RunningQuery[]): string {
  const names = Object.keys(columns);
  const structure = Object.entries(columns).map(([name, type]) => `${name} ${type}`);
  const rows = queries.map((query, number) => `(${rowOf(query, number).join(', ')})`);
  if (rows.length === 0) return `SELECT ${structure.map(defaultOf).join(', ')} WHERE 0`;
  return `SELECT ${names.join(', ')} FROM values('${structure.join(', ')}', ${rows.join(', ')})`;
}

function defaultOf(column: string): string {
  const [name = '', ...type] = column.split(' ');
  return `defaultValueOfTypeName('${type.join(' ')}') AS ${name}`;
}

function rowOf(query: RunningQuery, number: number): string[] {
  const id = stringLiteral(query.queryId);
  const user = "'default'";
  const settings = [...query.settings].flatMap(([name, value]) => [name, value]);
  return [
    String(number),
    '1',
    user,
    id,
    user,
    id,
    String((performance.now() - query.began) / 1000),
    stringLiteral(query.sql.slice(0, maxTextLength)),
    stringLiteral(query.database),
    settings.length === 0
      ? "CAST(map(), 'Map(String, String)')"
      : `map(${settings.map(stringLiteral).join(', ')})`,
  ];
}
