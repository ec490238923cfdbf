/**
 * Mounts reads on the stream port: checks token, account and scope, reads the body, calls the
 * route, and sends its answer.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Admission, MemoryLease, RequestBody } from '../admission/port.ts';
import type { Scope } from '../model/account.ts';
import { AppError } from '../model/errors.ts';
import {
  type ReadBody,
  type Reader,
  type ReadRequest,
  type ReadRoute,
  scanHeaders,
  StreamedResponse,
  type TicketRoute,
} from '../model/read-route.ts';
import type { RequestHeaders } from '../model/request.ts';
import { compressFor } from '../std/content-coding.ts';
import { parseParameters } from '../std/parse-query.ts';
import type { Caller } from './sessions.ts';
import { type Disconnect, type DisconnectSignals, sendStreamed } from './streamed-response.ts';
import { readHeaders, searchOf, toRequestBody } from './transport.ts';

export const jsonType = 'application/json; charset=utf-8';

/** The inflated body, its decoded parts, and their copies in the plan. */
const heapBytesPerBodyByte = 4;

export interface ReadParts {
  readonly admission: Admission;
  readonly disconnects: DisconnectSignals;
  /** The caller of a request. @throws AppError `unauthenticated` | `unavailable` */
  readonly identify: (request: FastifyRequest, headers: RequestHeaders) => Promise<Caller>;
}

export function mountRead(
  app: FastifyInstance,
  route: ReadRoute,
  { admission, disconnects, identify }: ReadParts,
): void {
  app.route<{ Params: Record<string, string> }>({
    method: route.method === 'GET' ? ['GET', 'HEAD'] : route.method,
    url: route.path,
    config: { failure: { encode: route.failure?.encode } },
    handler: async (request, reply) => {
      const { params, raw } = request;
      const headers = readHeaders(raw);
      const inUrl = parseParameters(searchOf(raw));
      const { token, tokenDigest } = await identify(request, headers); // 401, 503
      const accountId = admission.activeAccount(namedAccounts(headers, inUrl, route)); // 400
      admission.permitReader(token, accountId, route.scope); // 403
      const sent = toRequestBody(raw, reply.raw);
      const { body, memory } = await readBody(admission, sent, { accountId, headers, route });
      try {
        const disconnect = disconnects.watch(reply);
        const scanned = { rows: 0, bytes: 0 };
        const answer = await readUnlessDisconnected(route, disconnect, {
          accountId,
          tokenDigest,
          search:
            route.body?.kind === 'form' ? [...inUrl, ...parseParameters(body.toString())] : inUrl,
          params,
          body,
          lastEventId: lastEventIdOf(request),
          scanned,
          recheck: async () =>
            admission.permitReader(
              (await identify(request, headers)).token,
              accountId,
              route.scope,
            ),
          get disconnected() {
            return disconnect.disconnected;
          },
          get signal() {
            return disconnect.signal;
          },
        }); // 400, 404, 503
        if (disconnect.isGone) return undefined;
        if (answer instanceof StreamedResponse) {
          return await sendStreamed(request, reply, answer, disconnect.signal);
        }
        disconnect.settled();
        const { headers: further = {}, mediaType = '' } = route.response ?? {};
        if (route.reportsScan) {
          reply.header(scanHeaders.rows, scanned.rows).header(scanHeaders.bytes, scanned.bytes);
        }
        const isBytes = answer instanceof Uint8Array;
        reply.headers(further).header('content-type', isBytes ? mediaType : jsonType);
        if (isBytes && mediaType !== 'application/json') return answer;
        const json = isBytes ? answer : JSON.stringify(answer);
        const accepted = request.headers['accept-encoding'];
        const { coding, body: encoded } = await compressFor(accepted, json);
        if (coding !== undefined) reply.header('content-encoding', coding);
        return encoded;
      } finally {
        memory?.release();
      }
    },
  });
}

/** A read for the holder of a ticket; it has no token to check. */
export function mountTicket(
  app: FastifyInstance,
  { path, scope, read }: TicketRoute,
  { admission, disconnects }: Omit<ReadParts, 'identify'>,
): void {
  app.route<{ Params: Record<string, string> }>({
    method: 'GET',
    url: path,
    handler: async (request, reply) => {
      const { signal } = disconnects.watch(reply);
      const permitReader = (reader: Reader) => permit(admission, reader, scope);
      const answer = await read({ params: request.params, signal, permit: permitReader });
      await sendStreamed(request, reply, answer, signal);
    },
  });
}

/** @returns undefined if the reader disconnected before the read settled. @throws AppError */
async function readUnlessDisconnected(
  route: ReadRoute,
  disconnect: Disconnect,
  asked: ReadRequest,
): Promise<unknown> {
  if (disconnect.isGone) return undefined;
  try {
    return await route.read(asked);
  } catch (error) {
    // An aborted read is not a failure.
    if (disconnect.isGone) return undefined;
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

interface SentBody {
  readonly body: Buffer;
  readonly memory?: MemoryLease;
}

/** @throws AppError `unsupported_media` | `too_large` | `timeout` | `malformed` | `unavailable` */
async function readBody(
  admission: Admission,
  sent: RequestBody,
  asked: {
    readonly accountId: string;
    readonly headers: RequestHeaders;
    readonly route: { readonly body?: ReadBody };
  },
): Promise<SentBody> {
  const { accountId, headers, route } = asked;
  const rule = route.body;
  // An empty form has no content type.
  if (rule === undefined || (rule.kind === 'form' && !sent.expected)) {
    return { body: Buffer.alloc(0) };
  }
  const { coding } = admission.bodyFormat(headers, rule); // 415
  admission.checkDeclaredLength(headers, rule.maxBytes); // 413
  // A share apart from the account's senders, so that reads leave room for them.
  const holder = `readers of ${accountId}`;
  const memory = admission.reserveMemory(holder, headers, heapBytesPerBodyByte); // 503
  try {
    const bytes = await admission.readBody(sent, rule.maxBytes, memory); // 400, 408, 413
    const body = await admission.inflate(bytes, coding, { maxBytes: rule.maxBytes, memory });
    return { body, memory };
  } catch (error) {
    memory.release();
    throw error;
  }
}

function lastEventIdOf({ headers }: FastifyRequest): string | undefined {
  const id = headers['last-event-id'];
  return Array.isArray(id) ? id.join() : id;
}

/**
 * Header and parameter together count as two accounts.
 * @param inUrl parameters in the URL
 * @throws AppError `malformed` if the route accepts both and neither was sent
 */
function namedAccounts(
  { activeAccount }: RequestHeaders,
  inUrl: readonly (readonly [name: string, value: string])[],
  { accountParameter }: ReadRoute,
): readonly string[] {
  if (accountParameter === undefined) return activeAccount;
  const inParameter = inUrl.filter(([name]) => name === accountParameter);
  if (inParameter.length > 0) return [...activeAccount, ...inParameter.map(([, value]) => value)];
  if (activeAccount.length > 0) return activeAccount;
  throw new AppError(
    'malformed',
    'cannot determine the account: send its UUID as X-Active-Account, or as ' +
      `${accountParameter} in the URL`,
    { parameter: 'X-Active-Account' },
  );
}
