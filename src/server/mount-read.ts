/**
 * Puts a read on the stream port: who asks and for which account is settled before a parameter or a
 * body is looked at.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Admission, MemoryLease } from '../admission/port.ts';
import type { Scope } from '../model/account.ts';
import { AppError } from '../model/errors.ts';
import {
  type ReadBody,
  type Reader,
  type ReadRequest,
  type ReadRoute,
  StreamedAnswer,
  type TicketRequest,
  type TicketRoute,
} from '../model/read-route.ts';
import type { RequestHeaders } from '../model/request.ts';
import { digestSecret } from '../codec/token-secret.ts';
import { toAppError } from './errors.ts';
import { type Departures, sendStreamed } from './streamed-answer.ts';
import { sendFailure, type SurfaceContext } from './surface.ts';
import { readHeaders, toRequestBody } from './transport.ts';

export const jsonType = 'application/json; charset=utf-8';

/** What is read of a body for its sender's sake before a refusal is answered. */
const maxDiscardBytes = 10 * 1024 * 1024;
/** A body is inflated and taken apart, and its parts are put into the plan. */
const heapBytesPerBodyByte = 4;
const nothing = Buffer.alloc(0);

export function mountRead(
  app: FastifyInstance,
  context: SurfaceContext,
  route: ReadRoute,
  { admission, departures }: { admission: Admission; departures: Departures },
): void {
  const form = { maxDiscardBytes, encode: route.failure?.encode };
  app.route<{ Params: Record<string, string> }>({
    method: route.method === 'GET' ? ['GET', 'HEAD'] : route.method,
    url: route.path,
    errorHandler: (error, request, reply) => {
      void sendFailure(context, toAppError(error), request, reply, form);
    },
    // All of it, before the framework has an opinion about the body.
    onRequest: async (request, reply) => {
      const headers = readHeaders(request.raw);
      const search = searchOf(request);
      const tokenDigest = digestSecret(admission.bearer(headers)); // 401
      const token = await admission.tokenOfDigest(tokenDigest, 'access'); // 401, 503
      const accountId = admission.activeAccount(withAccount(headers, search, route)); // 400
      admission.permitReader(token, accountId, route.scope); // 403
      const reader = { accountId, tokenDigest };
      const recheck = () => permit(admission, reader, route.scope);
      const rule = route.body;
      const sent = await receive(request, reply, { admission, accountId, headers, rule });
      try {
        const { params } = request;
        if (route.body?.kind === 'form') addFields(search, sent.body);
        const departure = departures.watch(reply);
        const { body } = sent;
        const lastEventId = lastEventIdOf(request);
        const asked = { ...reader, ...departure, search, params, body, lastEventId, recheck };
        const answer = await read(route, asked); // 400, 404, 503
        if (answer instanceof StreamedAnswer) {
          await sendStreamed(request, reply, answer, departure.signal);
        } else if (!departure.left.aborted) {
          send(reply, route, answer);
        }
        // What is sent to a reader that has left counts as not sent, and would be handled again.
        if (!reply.sent) reply.hijack();
      } finally {
        sent.memory?.release();
      }
      return reply;
    },
    handler: () => {
      throw new Error('a read went past its answer');
    },
  });
}

/** A read for whoever holds its ticket: there is no token to check. */
export function mountTicket(
  app: FastifyInstance,
  route: TicketRoute,
  { admission, departures }: { admission: Admission; departures: Departures },
): void {
  app.route<{ Params: Record<string, string> }>({
    method: 'GET',
    url: route.path,
    onRequest: async (request, reply) => {
      const { signal } = departures.watch(reply);
      const asked: TicketRequest = {
        params: request.params,
        signal,
        permit: (reader) => permit(admission, reader, route.scope),
      };
      const answer = await route.read(asked); // 403, 404, 503
      await sendStreamed(request, reply, answer, signal);
      return reply;
    },
    handler: () => {
      throw new Error('a read went past its answer');
    },
  });
}

/** @returns undefined where the reader left before there was an answer. @throws AppError */
async function read(route: ReadRoute, asked: ReadRequest): Promise<unknown> {
  const { left } = asked;
  if (left?.aborted) return undefined;
  try {
    return await route.read(asked);
  } catch (error) {
    // What it was stopped by is no failure.
    if (left?.aborted) return undefined;
    throw error;
  }
}

/** @throws AppError `unauthenticated` | `forbidden` | `unavailable` */
async function permit(
  admission: Admission,
  { accountId, tokenDigest }: Reader,
  scope: Scope,
): Promise<void> {
  const token = await admission.tokenOfDigest(tokenDigest, 'access');
  admission.permitReader(token, accountId, scope);
}

function lastEventIdOf({ headers }: FastifyRequest): string | undefined {
  const id = headers['last-event-id'];
  return Array.isArray(id) ? id.join() : id;
}

interface SentBody {
  readonly body: Buffer;
  readonly memory: MemoryLease | undefined;
}

/** @throws AppError `unsupported_media` | `too_large` | `timeout` | `malformed` | `unavailable` */
async function receive(
  request: FastifyRequest,
  reply: FastifyReply,
  asked: {
    readonly admission: Admission;
    readonly accountId: string;
    readonly headers: RequestHeaders;
    readonly rule: ReadBody | undefined;
  },
): Promise<SentBody> {
  const { admission, accountId, headers, rule } = asked;
  const stream = toRequestBody(request.raw, reply.raw);
  // A form may be empty, and then nothing says that it is one.
  const isAbsent = rule === undefined || (rule.kind === 'form' && !stream.expected);
  if (isAbsent) return { body: nothing, memory: undefined };
  const { coding } = admission.bodyFormat(headers, rule); // 415
  admission.checkDeclaredLength(headers, rule.maxBytes); // 413
  // Its readers must leave room for its senders.
  const holder = `readers of ${accountId}`;
  const memory = admission.reserveMemory(holder, headers, heapBytesPerBodyByte); // 503
  try {
    const bytes = await admission.readBody(stream, rule.maxBytes, memory); // 400, 408, 413
    const body = await admission.inflate(bytes, coding, { maxBytes: rule.maxBytes, memory });
    return { body, memory };
  } catch (error) {
    memory.release();
    throw error;
  }
}

/** As it was sent: which parameters may repeat is for the reader of them to say. */
function searchOf(request: FastifyRequest): URLSearchParams {
  const url = request.raw.url ?? '';
  const mark = url.indexOf('?');
  return new URLSearchParams(mark === -1 ? '' : url.slice(mark + 1));
}

function addFields(search: URLSearchParams, form: Buffer): void {
  for (const [name, value] of new URLSearchParams(form.toString())) search.append(name, value);
}

/**
 * Header and parameter together are two accounts, like two headers.
 * @throws AppError `malformed` where neither is there and both may be
 */
function withAccount(
  headers: RequestHeaders,
  search: URLSearchParams,
  { accountParameter }: ReadRoute,
): RequestHeaders {
  if (accountParameter === undefined) return headers;
  const activeAccount = [...headers.activeAccount, ...search.getAll(accountParameter)];
  if (activeAccount.length > 0) return { ...headers, activeAccount };
  throw new AppError(
    'malformed',
    'cannot tell the account: send its UUID as X-Active-Account, or as ' +
      `${accountParameter} in the URL`,
    { parameter: 'X-Active-Account' },
  );
}

function send(reply: FastifyReply, { response }: ReadRoute, answer: unknown): void {
  if (response?.headers !== undefined) reply.headers(response.headers);
  if (answer instanceof Uint8Array) {
    reply.header('content-type', response?.mediaType).send(answer);
  } else {
    reply.header('content-type', jsonType).send(JSON.stringify(answer));
  }
}
