/** Writes the response to one query: headers, a whole or streamed body, compression, and errors. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';
import zlib from 'node:zlib';
import { exceptionBlock, type WireException } from './exceptions.ts';

export interface Summary {
  readonly readRows: number;
  readonly readBytes: number;
  readonly elapsedNanos: number;
}

export interface Reply {
  /** Sends a complete result. */
  whole(bytes: Uint8Array, format: string, summary: Summary): Promise<void>;
  /** Sends a chunk, the first one with the headers. Resolves when the socket has room for more. */
  chunk(bytes: Uint8Array, format: string): Promise<void>;
  /** Ends a streamed result, also an empty one. */
  end(format: string): Promise<void>;
  /** Sends an error response, or ends one that has begun with the error block and a cut. */
  fail(exception: WireException): Promise<void>;
}

const contentTypes: Readonly<Record<string, string>> = {
  JSON: 'application/json; charset=UTF-8',
  JSONCompact: 'application/json; charset=UTF-8',
  JSONEachRow: 'application/x-ndjson; charset=UTF-8',
  JSONCompactEachRow: 'application/x-ndjson; charset=UTF-8',
  CSV: 'text/csv; charset=UTF-8; header=absent',
  CSVWithNames: 'text/csv; charset=UTF-8; header=present',
  TabSeparated: 'text/tab-separated-values; charset=UTF-8',
  RowBinary: 'application/octet-stream',
  Native: 'application/octet-stream',
};

/** A client that reads nothing for this long loses its query, which frees the member. */
const stalledClientMillis = 60_000;

type Compressor = Writable & NodeJS.ReadableStream;

const compressors: Readonly<Record<string, () => Compressor>> = {
  gzip: () => zlib.createGzip({ level: 1 }),
  zstd: () => zlib.createZstdCompress(),
  br: () => zlib.createBrotliCompress({ params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 1 } }),
};

/** @param signal fires when the client disconnects */
export function openReply(
  request: IncomingMessage,
  response: ServerResponse,
  signal: AbortSignal,
): Reply {
  const tag = randomBytes(8).toString('hex');
  let body: Writable | undefined;

  function begin(format: string): Writable {
    response.setHeader('Content-Type', contentTypes[format] ?? 'text/plain; charset=UTF-8');
    response.setHeader('X-ClickHouse-Format', format);
    response.setHeader('X-ClickHouse-Timezone', 'UTC');
    response.setHeader('X-ClickHouse-Exception-Tag', tag);
    const encoding = acceptedEncoding(request);
    const compressor = wantsCompression(request) ? compressors[encoding]?.() : undefined;
    if (compressor === undefined) return response;
    response.setHeader('Content-Encoding', encoding);
    compressor.pipe(response);
    return compressor;
  }

  async function write(bytes: Uint8Array): Promise<void> {
    if (body?.write(bytes) !== false) return;
    const stalled = AbortSignal.timeout(stalledClientMillis);
    await once(body, 'drain', { signal: AbortSignal.any([signal, stalled]) });
  }

  async function finish(): Promise<void> {
    body?.end();
    if (!response.writableFinished) await once(response, 'finish', { signal });
  }

  return {
    async whole(bytes, format, summary) {
      response.setHeader('X-ClickHouse-Summary', summaryText(summary, bytes.length));
      body = begin(format);
      if (body === response) response.setHeader('Content-Length', bytes.length);
      await write(bytes);
      await finish();
    },
    async chunk(bytes, format) {
      body ??= begin(format);
      await write(bytes);
    },
    async end(format) {
      body ??= begin(format);
      await finish();
    },
    async fail(exception) {
      if (!response.headersSent) {
        response.removeHeader('Content-Length');
        response.removeHeader('Content-Encoding');
        response.statusCode = exception.httpStatus;
        response.setHeader('X-ClickHouse-Exception-Code', exception.code);
        response.setHeader('Content-Type', 'text/plain; charset=UTF-8');
        body = response;
        await write(Buffer.from(`${exception.text}\n`));
        await finish();
        return;
      }
      await write(Buffer.from(exceptionBlock(exception, tag)));
      // Without the cut the response would look complete to a client that ignores the tag.
      await flushed(body as Writable);
      response.destroy();
    },
  };
}

/** ClickHouse sends numbers as strings. */
function summaryText(summary: Summary, resultBytes: number): string {
  return JSON.stringify({
    read_rows: String(summary.readRows),
    read_bytes: String(summary.readBytes),
    written_rows: '0',
    written_bytes: '0',
    total_rows_to_read: '0',
    result_rows: '0',
    result_bytes: String(resultBytes),
    elapsed_ns: String(summary.elapsedNanos),
  });
}

function wantsCompression(request: IncomingMessage): boolean {
  return /[?&]enable_http_compression=1\b/.test(request.url ?? '');
}

function acceptedEncoding(request: IncomingMessage): string {
  const accepted = String(request.headers['accept-encoding'] ?? '').split(/\s*,\s*/);
  return accepted.find((name) => name in compressors) ?? '';
}

function flushed(body: Writable): Promise<void> {
  return new Promise((resolve) => {
    if (body instanceof zlib.Gzip) body.flush(() => resolve());
    else body.write('', () => resolve());
  });
}
