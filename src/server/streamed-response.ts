/**
 * Streams a response with back-pressure, and reports when its reader disconnects. A response that
 * fails after its first chunk is aborted, so that it never looks complete.
 */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { constants, Http2ServerResponse, type ServerHttp2Stream } from 'node:http2';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../model/errors.ts';
import type { StreamedResponse } from '../model/read-route.ts';

export interface DisconnectSignals {
  watch(reply: FastifyReply): Disconnect;
}

/** One for all: every request may end with it, and a new one costs a part of a short read. */
const disconnected = new DOMException('the reader disconnected', 'AbortError');

export function createDisconnectSignals(app: FastifyInstance): DisconnectSignals {
  const watched = new Set<Disconnect>();
  let isClosing = false;
  app.addHook('preClose', async () => {
    isClosing = true;
    for (const disconnect of watched) disconnect.closing();
  });
  return {
    watch({ raw }) {
      const disconnect = new Disconnect(raw, watched);
      if (isClosing) disconnect.closing();
      return disconnect;
    },
  };
}

/** Watches for the reader of a response to disconnect. Its signals are created when asked for. */
export class Disconnect {
  readonly #response: ServerResponse;
  readonly #watched: Set<Disconnect>;
  #isGone: boolean;
  #isClosing = false;
  #leaving: AbortController | undefined;
  #ending: AbortController | undefined;

  /** @param watched has it while the response is not closed */
  constructor(response: ServerResponse, watched: Set<Disconnect>) {
    this.#response = response;
    this.#watched = watched;
    // No `close` follows for a reader that disconnected during authentication.
    this.#isGone = isGone(response);
    if (this.#isGone) return;
    watched.add(this);
    response.once('close', this.#leave);
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  /** Aborted when the reader disconnects. For reads that end by themselves. */
  get disconnected(): AbortSignal {
    if (this.#leaving === undefined) {
      this.#leaving = new AbortController();
      if (this.#isGone) this.#leaving.abort(disconnected);
    }
    return this.#leaving.signal;
  }

  /** Aborted when the reader disconnects or the surface closes. For open-ended reads. */
  get signal(): AbortSignal {
    if (this.#ending === undefined) {
      this.#ending = new AbortController();
      if (this.#isGone) this.#ending.abort(disconnected);
      else if (this.#isClosing) this.#ending.abort();
    }
    return this.#ending.signal;
  }

  /** The surface closes. */
  closing(): void {
    this.#isClosing = true;
    this.#ending?.abort();
  }

  /** To be called when nothing works for the response any longer: the signals abort no more. */
  settled(): void {
    this.#watched.delete(this);
    this.#response.off('close', this.#leave);
  }

  readonly #leave = () => {
    this.#isGone = true;
    this.#watched.delete(this);
    this.#leaving?.abort(disconnected);
    this.#ending?.abort(disconnected);
  };
}

/**
 * Sends the headers with the first chunk, so that a failure before it gets an error response.
 * @param signal of the disconnect; once aborted, the response is aborted after a grace period.
 * @throws AppError `malformed` over HTTP/1.0; what the iterator throws before the first chunk
 */
export async function sendStreamed(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: StreamedResponse,
  signal: AbortSignal,
): Promise<void> {
  const chunks = answer.chunks[Symbol.asyncIterator]();
  if (request.raw.httpVersion === '1.0') {
    await chunks.return?.();
    // A body that ends with the connection would look complete after a failure.
    throw new AppError('malformed', 'cannot answer this over HTTP/1.0: use HTTP/1.1 or HTTP/2');
  }
  if (request.method === 'HEAD') {
    await chunks.return?.();
    reply.headers(answer.headers).header('content-type', answer.mediaType);
    return;
  }
  const nextChunk = () => keepAlive(request, reply, chunks.next());
  let next = await nextChunk();
  reply.hijack();
  const response = reply.raw;
  onAbort(signal, () => setTimeout(abort, closingMs, response).unref());
  try {
    response.writeHead(200, {
      ...(reply.getHeaders() as OutgoingHttpHeaders),
      ...answer.headers,
      'content-type': answer.mediaType,
    });
    for (; next.done !== true; next = await nextChunk()) {
      if (!(await write(response, next.value, request.server.server.timeout))) return;
    }
    response.end();
  } catch {
    abort(response);
  } finally {
    await chunks.return?.();
  }
}

/** For chunks that are in flight when the surface closes. */
const closingMs = 1000;

function onAbort(signal: AbortSignal, act: () => void): void {
  if (signal.aborted) act();
  else signal.addEventListener('abort', act, { once: true });
}

/** Keeps the idle timeout from closing the connection while the next chunk is read. */
async function keepAlive<Chunk>(
  { server }: FastifyRequest,
  reply: FastifyReply,
  chunk: Promise<Chunk>,
): Promise<Chunk> {
  const idleMs = server.server.timeout;
  if (idleMs === 0) return chunk;
  const connection = http2StreamOf(reply.raw)?.session ?? reply.raw.socket;
  const timer = setInterval(() => connection?.setTimeout(idleMs), Math.ceil(idleMs / 3));
  try {
    return await chunk;
  } finally {
    clearInterval(timer);
  }
}

/** @returns false once the reader has disconnected, or has read nothing for `idleMs`. */
async function write(
  response: ServerResponse,
  chunk: Uint8Array | string,
  idleMs: number,
): Promise<boolean> {
  for (const part of partsOf(response, chunk)) {
    if (isGone(response)) return false;
    if (!response.write(part)) await untilDrained(response, idleMs);
  }
  return !isGone(response);
}

/** An HTTP/2 stream reports a chunk as written only once all of it is; parts show progress. */
function partsOf(response: ServerResponse, chunk: Uint8Array | string): (Uint8Array | string)[] {
  if (chunk.length <= partLength || http2StreamOf(response) === undefined) return [chunk];
  const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
  const count = Math.ceil(bytes.length / partLength);
  return Array.from({ length: count }, (_, index) =>
    bytes.subarray(index * partLength, (index + 1) * partLength),
  );
}

const partLength = 64 * 1024;

/**
 * Resolves when the reader has read what was written, or has disconnected. Pings and other streams
 * keep an HTTP/2 connection from being idle, so a stalled stream has its own timer.
 */
function untilDrained(response: ServerResponse, idleMs: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const isStream = http2StreamOf(response) !== undefined;
  const timer = isStream ? setTimeout(abort, idleMs, response) : undefined;
  const settle = () => {
    clearTimeout(timer);
    response.off('drain', settle);
    response.off('close', settle);
    resolve();
  };
  response.on('drain', settle);
  response.on('close', settle);
  return promise;
}

function isGone(response: ServerResponse): boolean {
  const stream = http2StreamOf(response);
  return stream === undefined ? response.destroyed : stream.destroyed;
}

/** The reader sees a truncated response as an error. */
function abort(response: ServerResponse): void {
  const stream = http2StreamOf(response);
  if (stream === undefined) response.destroy();
  else stream.close(constants.NGHTTP2_INTERNAL_ERROR);
}

/** Fastify types every response as HTTP/1.1. */
function http2StreamOf(response: unknown): ServerHttp2Stream | undefined {
  return response instanceof Http2ServerResponse ? response.stream : undefined;
}
