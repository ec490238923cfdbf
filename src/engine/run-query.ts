/**
 * One query from the request to the answer: bind, classify, spool what an INSERT brings, wait for a
 * member of the right pool, run, answer. The order of these steps is here and nowhere else.
 */
import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import { EngineException } from './exceptions.ts';
import type { EngineRequest } from './http-request.ts';
import { bindParameters } from './literals.ts';
import type { Member } from './member.ts';
import type { Pool } from './pool.ts';
import type { Reply } from './reply.ts';
import type { PoolName } from './settings.ts';
import type { Spool } from './spool.ts';
import { insertFromFile, parseStatement, type Statement } from './statement.ts';

export interface QueryParts {
  readonly pools: Readonly<Record<PoolName, Pool<Member>>>;
  readonly spool: Spool;
  /** Ends the running query whose text starts with this mark. */
  killQuery(mark: string): void;
}

export interface QueryCall {
  readonly request: EngineRequest;
  /** The query where the URL has none, else the data of an INSERT. */
  readonly body: Readable;
  readonly reply: Reply;
  /**
   * Fires when the client is gone: a waiting query leaves, a running read is killed, a running
   * write goes on.
   */
  readonly signal: AbortSignal;
}

const maxQueryBytes = 32 * 2 ** 20;
/**
 * A stream never stands in memory as a whole, and its chunks are blocks, which are small for that.
 */
const streamSettings = [
  ['max_result_bytes', '0'],
  ['max_result_rows', '0'],
  ['max_block_size', '8192'],
  ['preferred_block_size_bytes', '1000000'],
] as const;

/** @throws EngineException, or an error of chDB whose message starts with its code */
export async function runQuery(parts: QueryParts, call: QueryCall): Promise<void> {
  const { request, body, signal } = call;
  const statement = await readStatement(request, body);
  const pool = parts.pools[request.pool ?? poolFor(statement)];
  pool.assertRoom();
  if (statement.kind !== 'insertData') {
    await runOnMember(parts, pool, { ...call, statement });
    return;
  }
  const file = await parts.spool.write(statement.inlineData, body);
  try {
    const sql = insertFromFile(statement.insert, file.path);
    const insert: Runnable = { kind: 'write', sql, isInsert: true };
    await runOnMember(parts, pool, { ...call, statement: insert, signal });
  } finally {
    await file.remove();
  }
}

type Runnable = Exclude<Statement, { kind: 'insertData' }>;
type RunnableCall = QueryCall & { readonly statement: Runnable };

/** As in ClickHouse, a body behind a query that takes no data belongs to the query's text. */
async function readStatement(request: EngineRequest, body: Readable): Promise<Statement> {
  const { parameters, defaultFormat } = request;
  const sql = bindParameters(request.sql ?? (await readText(body)), parameters);
  const statement = parseStatement(sql, defaultFormat);
  if (request.sql === undefined || statement.kind === 'insertData') return statement;
  const rest = await readText(body);
  if (rest.trim() === '') return statement;
  return parseStatement(`${sql}\n${bindParameters(rest, parameters)}`, defaultFormat);
}

function poolFor(statement: Statement): PoolName {
  if (statement.kind === 'read') return 'read';
  return statement.kind === 'insertData' || statement.isInsert ? 'insert' : 'housekeeping';
}

async function runOnMember(
  parts: QueryParts,
  pool: Pool<Member>,
  call: RunnableCall,
): Promise<void> {
  const { request, signal, statement } = call;
  const mark = `/* ${randomUUID()} */`;
  const kill = () => parts.killQuery(mark);
  const isRead = statement.kind === 'read';
  const streams = isRead && statement.canStream && !request.waitsForEnd;
  const member = await pool.acquire(signal);
  try {
    const settings = streams ? new Map([...streamSettings, ...request.settings]) : request.settings;
    await member.configure(settings, request.database);
    if (isRead) signal.addEventListener('abort', kill);
    if (streams) await streamAnswer(member, mark, call);
    else await wholeAnswer(member, mark, call);
  } finally {
    signal.removeEventListener('abort', kill);
    pool.release(member);
  }
}

async function wholeAnswer(member: Member, mark: string, call: RunnableCall): Promise<void> {
  const { request, reply, statement } = call;
  const format = statement.kind === 'read' ? statement.format : request.defaultFormat;
  const started = process.hrtime.bigint();
  const answer = await member.query(`${mark} ${statement.sql}`, format);
  const elapsedNanos = Number(process.hrtime.bigint() - started);
  await reply.whole(answer.bytes, format, {
    readRows: answer.rowsRead,
    readBytes: answer.bytesRead,
    elapsedNanos,
  });
}

async function streamAnswer(member: Member, mark: string, call: RunnableCall): Promise<void> {
  const { reply, signal, statement } = call;
  const format = statement.kind === 'read' ? statement.format : '';
  const stream = member.stream(`${mark} ${statement.sql}`, format);
  // Leaving the loop cancels what chDB still has to compute.
  for await (const chunk of stream) {
    if (signal.aborted) throw new EngineException(394, 'the client left while its answer was sent');
    await reply.chunk(chunk.raw(), format);
  }
  await reply.end(format);
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
