/**
 * The session cookie of the explorer. It authenticates only requests that a browser marks as sent
 * by the explorer's own pages, so that other sites and other programs need a bearer token.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Oidc } from '../admin/oidc.ts';
import type { AdminRoute } from '../admin/routes.ts';
import type { Sessions } from '../admin/sessions.ts';
import type { Admission } from '../admission/port.ts';
import { digestSecret } from '../codec/token-secret.ts';
import type { Session } from '../directory/port.ts';
import type { TokenGrant } from '../model/account.ts';
import { AppError, type ErrorCode } from '../model/errors.ts';
import type { RequestHeaders } from '../model/request.ts';
import { anyErrors, errorResponses, type Operation, toSchema } from './openapi-parts.ts';
import { readHeaders } from './transport.ts';

export interface CallerParts {
  readonly admission: Admission;
  /** Undefined = only bearer tokens. */
  readonly sessions: Sessions | undefined;
  /** Undefined = no single sign-on. */
  readonly oidc: Oidc | undefined;
  /** URL of the stream port as readers see it. */
  readonly publicUrl: () => string;
}

export interface SessionParts extends CallerParts {
  readonly sessions: Sessions;
}

export interface Caller {
  readonly token: TokenGrant;
  readonly tokenDigest: string;
}

/** `__Host-`: browsers accept it only over TLS, for this host alone and from no subdomain. */
const sessionCookie = '__Host-weir-session';
/** A header that forms cannot send, and other origins only after a preflight, which is refused. */
const explorerHeader = 'x-weir-explorer';

const attributes = 'Path=/; Secure; HttpOnly; SameSite=Strict';

/**
 * The caller by bearer token or, without one, by session.
 * @throws AppError `unauthenticated` | `unavailable`
 */
export async function identifyCaller(
  { admission, sessions, publicUrl }: CallerParts,
  request: FastifyRequest,
  headers: RequestHeaders,
): Promise<Caller> {
  const id = headers.authorization.length === 0 ? sessionId(request) : undefined;
  if (id === undefined || sessions === undefined) {
    return callerOf(admission, digestSecret(admission.bearer(headers)));
  }
  const fault = originFault(request, publicUrl());
  if (fault !== undefined) {
    const message = `cannot use the session: ${fault}; send "Authorization: Bearer <token>"`;
    throw new AppError('unauthenticated', message);
  }
  return callerOf(admission, (await sessions.require(id)).tokenDigest);
}

async function callerOf(admission: Admission, tokenDigest: string): Promise<Caller> {
  return { tokenDigest, token: await admission.tokenOfDigest(tokenDigest, 'access') };
}

export interface SessionRoute
  extends Pick<AdminRoute, 'operationId' | 'path' | 'response' | 'summary'> {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** For programs with a bearer token; absent = only for the explorer's own pages. */
  readonly isForPrograms?: true;
  /** @throws AppError */
  readonly handle: (
    parts: SessionParts,
    request: FastifyRequest,
    reply: FastifyReply,
  ) => Promise<unknown>;
}

export const sessionRoutes: readonly SessionRoute[] = [
  {
    method: 'GET',
    path: '/api/v1/session',
    operationId: 'getSession',
    summary: 'Whether this browser is signed in',
    response: z.object({
      isSignedIn: z.boolean(),
      singleSignOn: z.string().nullable().describe('Name of the provider.'),
    }),
    handle: async (parts, request) => ({
      isSignedIn: (await current(parts, request)) !== undefined,
      singleSignOn: parts.oidc?.label ?? null,
    }),
  },
  {
    method: 'POST',
    path: '/api/v1/session',
    operationId: 'signIn',
    summary: 'Begin a session with a token or the code of a sign-in link, in a cookie',
    response: undefined,
    async handle({ admission, sessions }, request, reply) {
      const secret = admission.bearer(readHeaders(request.raw)); // 401
      const { tokenDigest } = await callerOf(admission, await sessions.redeem(secret)); // 401, 503
      const earlier = sessionId(request);
      if (earlier !== undefined) await sessions.end(earlier);
      const id = await sessions.begin(tokenDigest);
      reply.header('set-cookie', toCookie(id, sessions.maxMs / 1000));
    },
  },
  {
    method: 'DELETE',
    path: '/api/v1/session',
    operationId: 'signOut',
    summary: 'End the session of this browser',
    response: undefined,
    async handle({ sessions }, request, reply) {
      const id = sessionId(request);
      if (id !== undefined) await sessions.end(id);
      reply.header('set-cookie', toCookie('', 0));
    },
  },
  {
    method: 'DELETE',
    path: '/api/v1/sessions',
    operationId: 'signOutEverywhere',
    summary: 'End all sessions of this user, in every browser',
    response: undefined,
    async handle({ sessions }, request, reply) {
      await sessions.endAll(await sessions.require(sessionId(request) ?? '')); // 401
      reply.header('set-cookie', toCookie('', 0));
    },
  },
  {
    method: 'POST',
    path: '/api/v1/admin/sign-in-links',
    operationId: 'createSignInLink',
    summary:
      'Create a link that signs a browser in once with this token: {streamUrl}/#sign-in={code}',
    response: z.object({ code: z.string(), seconds: z.int() }),
    isForPrograms: true,
    async handle({ admission, sessions }, request) {
      // No session: it could prolong itself.
      const digest = digestSecret(admission.bearer(readHeaders(request.raw))); // 401
      return sessions.createLink((await callerOf(admission, digest)).tokenDigest); // 401, 503
    },
  },
];

export function mountSessions(app: FastifyInstance, parts: SessionParts): void {
  for (const { method, path, response, isForPrograms, handle } of sessionRoutes) {
    app.route({
      method: method === 'GET' ? ['GET', 'HEAD'] : method,
      url: path,
      handler: async (request, reply) => {
        const fault = isForPrograms ? undefined : originFault(request, parts.publicUrl());
        if (fault !== undefined) {
          throw new AppError('forbidden', `cannot use sessions here: ${fault}`);
        }
        const answer = await handle(parts, request, reply);
        return response === undefined ? reply.code(204).send() : answer;
      },
    });
  }
}

const sessionErrors: readonly ErrorCode[] = [...anyErrors, 'unauthenticated'];

export function describeSession(route: SessionRoute): Operation {
  const { method, path, operationId, summary, response, isForPrograms } = route;
  const content = response && { content: { 'application/json': { schema: toSchema(response) } } };
  const describe = {
    operationId,
    summary,
    ...(!isForPrograms && {
      description: "Only for the explorer's own pages, which a browser marks as such.",
    }),
    security: method === 'POST' ? [{ token: [] }] : [],
    responses: {
      [response === undefined ? 204 : 200]: { description: summary, ...content },
      ...errorResponses(sessionErrors),
    },
  };
  return { method, path, describe };
}

/** The session whose token is still valid. @throws AppError `unavailable` */
async function current(
  { admission, sessions }: SessionParts,
  request: FastifyRequest,
): Promise<Session | undefined> {
  const id = sessionId(request);
  const session = id === undefined ? undefined : await sessions.find(id);
  if (session === undefined) return undefined;
  try {
    await admission.tokenOfDigest(session.tokenDigest, 'access');
    return session;
  } catch (error) {
    if (error instanceof AppError && error.code === 'unauthenticated') return undefined;
    throw error;
  }
}

/** @returns why the request may come from elsewhere than a page of the explorer, or undefined */
function originFault(
  { method, headers, host }: FastifyRequest,
  publicUrl: string,
): string | undefined {
  const { origin, 'sec-fetch-site': site, [explorerHeader]: marker } = headers;
  if (site !== 'same-origin') {
    return `no page of the explorer sent this request (Sec-Fetch-Site: ${site ?? 'none sent'})`;
  }
  if (marker === undefined) return `the request has no ${explorerHeader} header`;
  const isSafe = method === 'GET' || method === 'HEAD';
  if (origin === undefined && isSafe) return undefined;
  if (origin === `https://${host}` || origin === URL.parse(publicUrl)?.origin) return undefined;
  const name = origin ?? 'none sent';
  return `its origin (${name}) is neither https://${host} nor that of stream.publicUrl`;
}

function sessionId(request: FastifyRequest): string | undefined {
  return readCookie(request, sessionCookie);
}

export function readCookie(
  { headers: { cookie = '' } }: FastifyRequest,
  name: string,
): string | undefined {
  const start = `${name}=`;
  const found = cookie.split(/; */).find((pair) => pair.startsWith(start));
  return found?.slice(start.length) || undefined;
}

export function toCookie(id: string, maxAgeSeconds: number): string {
  return `${sessionCookie}=${id}; Max-Age=${maxAgeSeconds}; ${attributes}`;
}
