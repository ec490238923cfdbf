/**
 * One query from request to response: classify, spool the data of an INSERT, wait for a member of
 * the right pool, run, respond.
 */
import { statfs } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { bindParameters } from './bind-parameters.ts';
import { EngineException } from './exceptions.ts';
import type { WriteWatch } from './failed-writes.ts';
import type { EngineRequest } from './http-request.ts';
import {
  type Control,
  parseKill,
  runKill,
  type RunningQueries,
  type RunningQuery,
} from './kill-query.ts';
import type { Member } from './member.ts';
import type { Pool } from './pool.ts';
import type { Reply, Summary } from './reply.ts';
import type { PoolName } from './settings.ts';
import type { Spool } from './spool.ts';
import { insertFromFile, parseStatement, type Statement } from './statement.ts';

export interface QueryParts {
  readonly pools: Readonly<Record<PoolName, Pool<Member>>>;
  readonly spool: Spool;
  readonly running: RunningQueries;
  /** Runs a statement of the engine itself on the control pool. */
  control: Control;
  readonly writes: WriteWatch;
  readonly storePath: string;
}

export interface QueryCall {
  readonly request: EngineRequest;
  /** The query where the URL has none, else the data of an INSERT. */
  readonly body: Readable;
  readonly reply: Reply;
  /**
   * Fires when the client disconnects: a waiting query leaves, a running read is killed, a running
   * write continues.
   */
  readonly signal: AbortSignal;
}

/** A shorter read cannot have filled half its memory, above which it spills to disk. */
const maxMillisInMemory = 50;
const maxQueryBytes = 32 * 2 ** 20;
/** Rows are spooled, sorted and merged in files. */
const insertReserveBytes = 64 * 2 ** 20;
/** A DDL statement writes a few small files. */
const changeReserveBytes = 16 * 2 ** 20;
/** A streamed result has no size limit; its chunks are blocks, which these keep small. */
const streamSettings = [
  ['max_result_bytes', '0'],
  ['max_result_rows', '0'],
  ['max_block_size', '8192'],
  ['preferred_block_size_bytes', '1000000'],
] as const;

/** @throws EngineException, or an error of chDB */
export async function runQuery(parts: QueryParts, call: QueryCall): Promise<void> {
  const { request, body, reply } = call;
  const statement = await readStatement(request, body);
  const bound = bindParameters(textOf(statement), request.parameters);
  const kill = statement.kind === 'write' ? parseKill(statement.sql) : undefined;
  if (kill !== undefined) {
    const format = kill.format ?? request.defaultFormat;
    const control: Control = (text, as) => parts.control(text, as, request.parameters);
    const result = await runKill(kill, parts.running.all(), control, format);
    await reply.whole(result, format, nothingRead);
    return;
  }
  const { queryId = '', database, settings } = request;
  const query = parts.running.add({ queryId, sql: textOf(statement), database, settings });
  try {
    const signal = AbortSignal.any([call.signal, query.killed]);
    const { sql, parameters } = bound;
    const changes =
      statement.kind === 'read'
        ? { statement: { ...statement, sql }, request: { ...request, parameters } }
        : { statement };
    await runStatement(parts, { ...call, ...changes, query, signal });
  } finally {
    query.end();
  }
}

const nothingRead: Summary = { readRows: 0, readBytes: 0, elapsedNanos: 0 };

interface StatementCall<Kind extends Statement = Statement> extends QueryCall {
  readonly query: RunningQuery;
  readonly statement: Kind;
}

async function runStatement(parts: QueryParts, call: StatementCall): Promise<void> {
  const { request, body, statement } = call;
  const pool = parts.pools[request.pool ?? poolFor(statement)];
  pool.assertRoom(request.account);
  if (statement.kind !== 'read') {
    const isInsert = statement.kind === 'insertData' || statement.isInsert;
    await assertDiskRoom(parts.storePath, isInsert ? insertReserveBytes : changeReserveBytes);
  }
  if (statement.kind !== 'insertData') {
    await runOnMember(parts, pool, { ...call, statement });
    return;
  }
  const file = await parts.spool.write(statement.inlineData, body);
  try {
    const sql = insertFromFile(statement.insert, file.path);
    const insert: Runnable = { kind: 'write', sql, isInsert: true };
    await runOnMember(parts, pool, { ...call, statement: insert });
  } finally {
    await file.remove();
  }
}

/**
 * Refuses a write for which the disk may not have room: chDB would cut it short without an error,
 * and the engine would have to restart.
 * @throws EngineException 243
 */
async function assertDiskRoom(folder: string, neededBytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const freeBytes = bavail * bsize;
  if (freeBytes >= neededBytes) return;
  const space = `${freeBytes} bytes are free of ${neededBytes}`;
  throw new EngineException(243, `cannot write to the store: no space left, ${space}`);
}

function textOf(statement: Statement): string {
  if (statement.kind !== 'insertData') return statement.sql;
  const { head, tail } = statement.insert;
  return head + tail;
}

type Runnable = Exclude<Statement, { kind: 'insertData' }>;
type RunnableCall = StatementCall<Runnable>;

/** As in ClickHouse, the body continues the query's text unless the query is an INSERT. */
async function readStatement(request: EngineRequest, body: Readable): Promise<Statement> {
  const { defaultFormat } = request;
  const sql = request.sql ?? (await readText(body));
  const statement = parseStatement(sql, defaultFormat);
  if (request.sql === undefined || statement.kind === 'insertData') return statement;
  const rest = await readText(body);
  return rest.trim() === '' ? statement : parseStatement(`${sql}\n${rest}`, defaultFormat);
}

function poolFor(statement: Statement): PoolName {
  if (statement.kind === 'read') return 'read';
  return statement.kind === 'insertData' || statement.isInsert ? 'insert' : 'housekeeping';
}

/** Checks and replies without the member: a check needs one of the control pool. */
async function runOnMember(
  { writes }: QueryParts,
  pool: Pool<Member>,
  call: RunnableCall,
): Promise<void> {
  const { statement } = call;
  const member = await pool.acquire(call.request.account, call.signal);
  let ran: Ran;
  try {
    ran = await runHeld(member, call).finally(() => pool.release(member));
  } catch (error) {
    if (statement.kind !== 'read') await writes.check();
    throw error;
  }
  if (mayHaveWritten(statement, ran.elapsedMs)) await writes.check();
  await ran.finish();
}

interface Ran {
  readonly elapsedMs: number;
  /** Sends what is left of the response. */
  finish(): Promise<void>;
}

async function runHeld(member: Member, call: RunnableCall): Promise<Ran> {
  const { query, request, signal, statement } = call;
  const kill = () => void query.kill();
  const isRead = statement.kind === 'read';
  const streams = isRead && statement.canStream && !request.waitsForEnd;
  const settings = streams ? new Map([...streamSettings, ...request.settings]) : request.settings;
  await member.configure({ ...request, settings });
  if (signal.aborted) throw new EngineException(394, 'the query was cancelled before it began');
  query.start();
  if (isRead) signal.addEventListener('abort', kill);
  try {
    return streams ? await runStream(member, call) : await runWhole(member, call);
  } finally {
    signal.removeEventListener('abort', kill);
  }
}

async function runWhole(member: Member, call: RunnableCall): Promise<Ran> {
  const { query, request, reply, statement } = call;
  const format = statement.kind === 'read' ? statement.format : request.defaultFormat;
  const startedAt = performance.now();
  const result = await member.query(`${query.mark} ${statement.sql}`, format);
  const elapsedMs = performance.now() - startedAt;
  const summary = {
    readRows: result.rowsRead,
    readBytes: result.bytesRead,
    elapsedNanos: Math.round(elapsedMs * 1e6),
  };
  return { elapsedMs, finish: () => reply.whole(result.bytes, format, summary) };
}

async function runStream(member: Member, call: RunnableCall): Promise<Ran> {
  const { query, reply, signal, statement } = call;
  const format = statement.kind === 'read' ? statement.format : '';
  const startedAt = performance.now();
  const stream = member.stream(`${query.mark} ${statement.sql}`, format);
  // Leaving the loop cancels the query.
  for await (const chunk of stream) {
    if (signal.aborted) throw new EngineException(394, 'the client disconnected midway');
    await reply.chunk(chunk.raw(), format);
  }
  return { elapsedMs: performance.now() - startedAt, finish: () => reply.end(format) };
}

/** Reads spill sorting and grouping to disk. */
function mayHaveWritten({ kind }: Runnable, elapsedMs: number): boolean {
  return kind === 'write' || elapsedMs > maxMillisInMemory;
}

async function readText(body: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const parts: AsyncIterable<Buffer> = body.iterator({ destroyOnReturn: false });
  for await (const chunk of parts) {
    bytes += chunk.length;
    if (bytes > maxQueryBytes) {
      throw new EngineException(307, `cannot read the query: over ${maxQueryBytes} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
