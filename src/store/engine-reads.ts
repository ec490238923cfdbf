/**
 * Reads of the embedded engine over its Unix socket, by the HTTP interface of ClickHouse. Its
 * client takes 1 to 2 ms more for each statement: it waits for a timer before it sends, to notice
 * connections that a server has closed, and passes rows through a stream.
 */
import { once } from 'node:events';
import { type Agent, type IncomingMessage, request } from 'node:http';
import { parseError } from '@clickhouse/client';
import type { Scan } from '../model/plan.ts';
import { freeMemory, ownMemory } from '../std/free-memory.ts';
import { parameterText, type Statement } from './sql/statement.ts';

export interface EngineRead {
  readonly statement: Statement;
  readonly pool: string;
  /** For fair turns in the engine; absent = the gateway itself. */
  readonly accountId?: string;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs: number;
  /** Incremented by what the statement reads. */
  readonly scanned?: Scan | undefined;
}

export type EngineReads = ReturnType<typeof createEngineReads>;

/** @param agent connects to the socket of the engine; its owner closes it */
export function createEngineReads(agent: Agent) {
  return {
    /** Each row is an array of its columns. @throws ClickHouseError, or an error of the socket */
    async rows<Row>(read: EngineRead): Promise<Row[]> {
      if (read.scanned !== undefined) {
        return withScan(await send(agent, read, 'JSONCompact'), read.scanned);
      }
      const response = await send(agent, read);
      const rows: Row[] = [];
      let rest: Buffer[] = [];
      for await (const chunk of response as AsyncIterable<Buffer>) {
        const end = chunk.lastIndexOf(newline);
        if (end >= 0) {
          const whole = Buffer.concat([...rest, chunk.subarray(0, end)]);
          const text = whole.toString();
          freeMemory([...rest, whole].map(ownMemory));
          // A string in JSON has no line feed.
          for (const line of text.split('\n')) rows.push(JSON.parse(line) as Row);
          rest = [];
        }
        rest.push(chunk.subarray(end + 1));
      }
      return rows;
    },
    /** In the format that the statement names. */
    async bytes(read: EngineRead): Promise<Buffer> {
      return bodyOf(await send(agent, read));
    },
  };
}

const newline = 0x0a;

async function send(
  agent: Agent,
  read: EngineRead,
  format = 'JSONCompactEachRow',
): Promise<IncomingMessage> {
  const { statement, pool, accountId, signal, timeoutMs } = read;
  const sent = request({
    agent,
    method: 'POST',
    path: `/?${toSearch(statement, format)}`,
    headers: {
      'X-Weir-Pool': pool,
      'Content-Length': Buffer.byteLength(statement.sql),
      ...(accountId !== undefined && { 'X-ClickHouse-Quota': accountId }),
    },
    timeout: timeoutMs,
    ...(signal !== undefined && { signal }),
  });
  sent.once('timeout', () => {
    sent.destroy(new Error(`cannot read the engine: no answer for ${timeoutMs} ms`));
  });
  // Also emitted while the answer is read, which then fails too.
  sent.on('error', () => undefined);
  sent.end(statement.sql);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  if (response.statusCode === 200) return response;
  throw parseError((await bodyOf(response)).toString());
}

/** Complete answers only: an error after the first row is an error. */
function toSearch({ params, settings = {} }: Statement, format: string): string {
  const search = new URLSearchParams({
    wait_end_of_query: '1',
    default_format: format,
  });
  for (const [name, value] of Object.entries(settings)) search.set(name, String(value));
  for (const [name, value] of Object.entries(params)) {
    search.set(`param_${name}`, parameterText(value));
  }
  return search.toString();
}

async function bodyOf(response: IncomingMessage): Promise<Buffer> {
  return Buffer.concat(await response.toArray());
}

interface WholeAnswer<Row> {
  readonly data: Row[];
  readonly statistics: { readonly rows_read: number; readonly bytes_read: number };
}

/** Only JSON has statistics; it is parsed as one text, too much for an export of large logs. */
async function withScan<Row>(response: IncomingMessage, scanned: Scan): Promise<Row[]> {
  const text = (await bodyOf(response)).toString();
  const { data, statistics } = JSON.parse(text) as WholeAnswer<Row>;
  scanned.rows += statistics.rows_read;
  scanned.bytes += statistics.bytes_read;
  return data;
}
