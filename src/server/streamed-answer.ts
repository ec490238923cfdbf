/**
 * Sends an answer that has no end in sight chunk by chunk, no faster than its reader takes it, and
 * knows when the reader has left. What the chunks mean is the route's business.
 */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { constants, Http2ServerResponse, type ServerHttp2Stream } from 'node:http2';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../model/errors.ts';
import type { StreamedAnswer } from '../model/read-route.ts';

/** Tells what is done for readers when to stop. */
export interface Departures {
  watch(reply: FastifyReply): Departure;
}

export interface Departure {
  /** Aborted once this reader has left: what ends by itself goes on while the surface closes. */
  readonly left: AbortSignal;
  /** Aborted once this reader has left, or the surface closes: for what goes on for long. */
  readonly signal: AbortSignal;
}

export function createDepartures(app: FastifyInstance): Departures {
  const watched = new Set<AbortController>();
  let isClosing = false;
  app.addHook('preClose', async () => {
    isClosing = true;
    for (const departure of watched) departure.abort();
  });
  return {
    watch(reply) {
      const leaving = new AbortController();
      const departure = new AbortController();
      const leave = () => {
        watched.delete(departure);
        leaving.abort();
        departure.abort();
      };
      // A reader that left while its token was looked up will not be heard to leave.
      if (isGone(reply.raw)) leave();
      else reply.raw.once('close', leave);
      if (isClosing) departure.abort();
      else if (!leaving.signal.aborted) watched.add(departure);
      return { left: leaving.signal, signal: departure.signal };
    },
  };
}

/**
 * The head is sent with the first chunk: what fails before it can still be answered as a failure.
 * @param signal of its departure; once aborted, a reader that takes nothing is not waited for long.
 * @throws AppError `malformed` over HTTP/1.0; what the chunks throw before the first of them
 */
export async function sendStreamed(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: StreamedAnswer,
  signal: AbortSignal,
): Promise<void> {
  const chunks = answer.chunks[Symbol.asyncIterator]();
  if (request.raw.httpVersion === '1.0') {
    await chunks.return?.();
    // It marks an end by nothing but the end: what broke off would look whole.
    throw new AppError('malformed', 'cannot answer this over HTTP/1.0: use HTTP/1.1 or HTTP/2');
  }
  if (request.method === 'HEAD') {
    await chunks.return?.();
    reply.headers(answer.headers).header('content-type', answer.mediaType);
    return;
  }
  const nextChunk = () => awake(request, reply, chunks.next());
  let next = await nextChunk();
  reply.hijack();
  const response = reply.raw;
  onAbort(signal, () => setTimeout(breakOff, lastWordsMs, response).unref());
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
    breakOff(response);
  } finally {
    await chunks.return?.();
  }
}

/** For what is under way to its reader when the surface closes. */
const lastWordsMs = 1000;

function onAbort(signal: AbortSignal, act: () => void): void {
  if (signal.aborted) act();
  else signal.addEventListener('abort', act, { once: true });
}

/**
 * A connection is not idle while its next chunk is looked for, which may take longer than any may
 * be silent.
 */
async function awake<Chunk>(
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

/** @returns false once nobody reads any more, or a stream has stood still for `idleMs`. */
async function write(
  response: ServerResponse,
  chunk: Uint8Array | string,
  idleMs: number,
): Promise<boolean> {
  for (const part of partsOf(response, chunk)) {
    if (isGone(response)) return false;
    if (!response.write(part)) await room(response, idleMs);
  }
  return !isGone(response);
}

/** A stream of HTTP/2 tells of what it was given only once all of it has been taken. */
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
 * Until its reader has taken what was written, or left. Nothing stays behind on the response. A
 * connection of HTTP/2 is not idle while pings or other streams keep it busy, so that a stream
 * which stands still is noticed here.
 */
function room(response: ServerResponse, idleMs: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const isStream = http2StreamOf(response) !== undefined;
  const timer = isStream ? setTimeout(breakOff, idleMs, response) : undefined;
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

/** So that its reader can tell what is short from what is whole. */
function breakOff(response: ServerResponse): void {
  const stream = http2StreamOf(response);
  if (stream === undefined) response.destroy();
  else stream.close(constants.NGHTTP2_INTERNAL_ERROR);
}

/** What Fastify types as an answer over HTTP/1.1 may be one over HTTP/2. */
function http2StreamOf(response: unknown): ServerHttp2Stream | undefined {
  return response instanceof Http2ServerResponse ? response.stream : undefined;
}
