/**
 * The HTTP server of the engine process: routes, request bodies, and errors as responses.
 * https://clickhouse.com/docs/interfaces/http
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { pipeline, Readable, type Transform } from 'node:stream';
import { finished } from 'node:stream/promises';
import zlib from 'node:zlib';
import { EngineException, toWireException } from './exceptions.ts';
import { parseMultipart, parseQueryString, toEngineRequest } from './http-request.ts';
import { openReply } from './reply.ts';
import { type QueryParts, runQuery } from './run-query.ts';

export interface QueryServerParts extends QueryParts {
  /** Resolves when chDB runs a trivial query. */
  probe(): Promise<void>;
}

/** The URL may hold long lists of parameters. */
const maxHeaderBytes = 8 * 2 ** 20;
/** Longer than in Weir's clients, so that no connection closes while a client sends on it. */
const keepAliveMillis = 30_000;

/**
 * Serves queries on `/`, `/ping` (the process responds) and `/heartbeat` (chDB responds; JSON with
 * `residentBytes`). The caller makes it listen and closes it.
 */
export function createQueryServer(parts: QueryServerParts): Server {
  const options = { maxHeaderSize: maxHeaderBytes, keepAliveTimeout: keepAliveMillis };
  return createServer(options, (request, response) => {
    void serve(parts, request, response);
  });
}

async function serve(
  parts: QueryServerParts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const [path = '/', queryString = ''] = (request.url ?? '/').split(/\?(.*)/s);
  switch (path) {
    case '/ping':
      response.end('Ok.\n');
      return;
    case '/heartbeat':
      await serveHeartbeat(parts, response);
      return;
    case '/':
      await serveQuery(parts, queryString, request, response);
      return;
    default:
      response
        .writeHead(404)
        .end('cannot find this path: the engine serves /, /ping, /heartbeat\n');
  }
}

async function serveHeartbeat(parts: QueryServerParts, response: ServerResponse): Promise<void> {
  // An error is a response too: only a timeout means that chDB hangs.
  const fault = await parts.probe().then(
    () => undefined,
    (error: unknown) => toWireException(error).text,
  );
  response.setHeader('Content-Type', 'application/json');
  response.end(JSON.stringify({ residentBytes: process.memoryUsage.rss(), fault }));
}

async function serveQuery(
  parts: QueryServerParts,
  queryString: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const disconnect = new AbortController();
  response.on('close', () => {
    if (!response.writableFinished) disconnect.abort();
  });
  response.on('error', () => disconnect.abort());
  const reply = openReply(request, response, disconnect.signal);
  let body: Readable = request;
  try {
    const fields = parseQueryString(queryString);
    const queryId = fields.get('query_id');
    if (queryId !== undefined) {
      response.setHeader('X-ClickHouse-Query-Id', safeHeader(Buffer.from(queryId).toString()));
    }
    body = await takeFields(request, fields);
    const engineRequest = toEngineRequest(fields, request.headers);
    await runQuery(parts, { request: engineRequest, body, reply, signal: disconnect.signal });
  } catch (error) {
    if (disconnect.signal.aborted) return;
    // A client that is still sending would not read the response.
    await finished(body.resume()).catch(() => undefined);
    await reply.fail(toWireException(error)).catch(() => response.destroy());
  }
}

/** Moves the fields of a multipart body to `fields`. @returns the rest of the body */
async function takeFields(
  request: IncomingMessage,
  fields: Map<string, Uint8Array>,
): Promise<Readable> {
  const body = inflated(request);
  const contentType = request.headers['content-type'] ?? '';
  if (!contentType.startsWith('multipart/form-data')) return body;
  const chunks: Buffer[] = [];
  for await (const chunk of body as AsyncIterable<Buffer>) chunks.push(chunk);
  for (const [name, value] of parseMultipart(Buffer.concat(chunks), contentType)) {
    fields.set(name, value);
  }
  return Readable.from([]);
}

function inflated(request: IncomingMessage): Readable {
  const inflate = inflaterOf(request.headers['content-encoding'] ?? '');
  if (inflate === undefined) return request;
  // Unlike pipe(), it also fails the body when the request is cut off.
  pipeline(request, inflate, () => undefined);
  return inflate;
}

function inflaterOf(encoding: string): Transform | undefined {
  switch (encoding) {
    case '':
    case 'identity':
      return undefined;
    case 'gzip':
      return zlib.createGunzip();
    case 'zstd':
      return zlib.createZstdDecompress();
    case 'br':
      return zlib.createBrotliDecompress();
    case 'deflate':
      return zlib.createInflate();
    default:
      throw new EngineException(48, `cannot read a body with Content-Encoding ${encoding}`);
  }
}

function safeHeader(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?');
}
