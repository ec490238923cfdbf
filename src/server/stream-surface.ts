/**
 * The stream port: reads, the control API and the explorer. Each handler authenticates and
 * authorizes before it parses anything; no response may be cached.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { checkAccount, checkScope } from '../admin/authority.ts';
import type { AdminRoute } from '../admin/routes.ts';
import type { Admission, RequestBody } from '../admission/port.ts';
import { AppError } from '../model/errors.ts';
import type { ReadRoute, TicketRoute } from '../model/read-route.ts';
import type { RequestHeaders } from '../model/request.ts';
import { createExplorer, explorerPaths } from './explorer.ts';
import { jsonType, mountRead, mountTicket, type ReadParts } from './mount-read.ts';
import { mountOpenRoutes, type OpenRoute } from './open-routes.ts';
import { mountSingleSignOn } from './single-sign-on.ts';
import { type CallerParts, identifyCaller, mountSessions, sessionRoutes } from './sessions.ts';
import { createDisconnectSignals } from './streamed-response.ts';
import { createSurface, type SurfaceContext } from './surface.ts';
import { readHeaders, toRequestBody, uncountedMemory } from './transport.ts';

export interface StreamRoutes {
  /** Reads of one account's data. */
  readonly reads: readonly ReadRoute[];
  /** Downloads for browsers, which send no headers with them. */
  readonly tickets: readonly TicketRoute[];
  /** Below `/api/v1/admin`. */
  readonly admin: readonly AdminRoute[];
  readonly open: readonly OpenRoute[];
}

/** On every response of this port, errors included (SPEC §5). */
export const privateHeaders = {
  'cache-control': 'private, no-store',
  vary: 'Authorization, X-Active-Account, Cookie, Accept-Encoding',
  'x-content-type-options': 'nosniff',
} as const;

export const adminPrefix = '/api/v1/admin';

const maxAdminBodyBytes = 64 * 1024;
const adminBody = { mediaTypes: [{ name: 'application/json' }], codings: ['identity'] } as const;

export function createStreamSurface(
  context: SurfaceContext,
  routes: StreamRoutes,
  { explorerDirectory, ...callers }: CallerParts & { readonly explorerDirectory: string },
): FastifyInstance {
  const { admission } = callers;
  const identify: ReadParts['identify'] = (request, headers) =>
    identifyCaller(callers, request, headers);
  const explorer = createExplorer(explorerDirectory);
  const app = createSurface({ ...context, answerUnknown: explorer.answerUnknown });
  explorer.mount(app);
  const disconnects = createDisconnectSignals(app);
  for (const route of routes.reads) mountRead(app, route, { admission, disconnects, identify });
  for (const route of routes.tickets) mountTicket(app, route, { admission, disconnects });
  for (const route of routes.admin) mountAdmin(app, route, { admission, disconnects, identify });
  const { sessions, oidc } = callers;
  if (sessions !== undefined) {
    mountSessions(app, { ...callers, sessions });
    if (oidc !== undefined) mountSingleSignOn(app, { ...callers, sessions, oidc });
  }
  mountOpenRoutes(app, routes.open);
  mountOtherMethods(app, routes);
  return app;
}

function mountAdmin(
  app: FastifyInstance,
  route: AdminRoute,
  { admission, disconnects, identify }: Pick<ReadParts, 'admission' | 'disconnects' | 'identify'>,
): void {
  const parseJson = createJsonParser(app);
  const maxBytes = route.maxBodyBytes ?? maxAdminBodyBytes;
  app.route({
    method: route.method === 'GET' ? ['GET', 'HEAD'] : route.method,
    url: adminPrefix + route.path,
    handler: async (request, reply) => {
      const { params, raw } = request;
      const headers = readHeaders(raw);
      const { token: caller } = await identify(request, headers); // 401, 503
      const isNamed = route.accountScoped || headers.activeAccount.length > 0;
      const accountId = isNamed ? admission.activeAccount(headers.activeAccount) : undefined; // 400
      if (route.accountScoped && accountId !== undefined) checkAccount(caller, accountId); // 403
      checkScope(caller, route.scope); // 403
      const sent = toRequestBody(raw, reply.raw);
      const text =
        route.method === 'GET' ? '' : await readJson(admission, sent, { headers, maxBytes });
      const body = text === '' ? undefined : await parseJson(request, text); // 400
      const { disconnected } = disconnects.watch(reply);
      const ifMatch = request.headers['if-match'];
      const asked = { caller, accountId, params, body, ifMatch, disconnected };
      const answer = await route.handle(asked);
      reply.code(route.successStatus);
      if (route.isVersioned) reply.header('etag', `"${(answer as { version: string }).version}"`);
      if (route.response === undefined) return reply.send();
      return reply.header('content-type', jsonType).send(JSON.stringify(answer));
    },
  });
}

/** @throws AppError `unsupported_media` | `too_large` | `timeout` | `malformed` */
async function readJson(
  admission: Admission,
  sent: RequestBody,
  { headers, maxBytes }: { readonly headers: RequestHeaders; readonly maxBytes: number },
): Promise<string> {
  if (headers.contentType.length > 0) admission.bodyFormat(headers, adminBody); // 415
  admission.checkDeclaredLength(headers, maxBytes); // 413
  // Too small to count against the memory in flight: administration must work under load.
  const bytes = await admission.readBody(sent, maxBytes, uncountedMemory);
  if (bytes.length > 0) admission.bodyFormat(headers, adminBody); // 415
  return bytes.toString();
}

/** Fastify's own parser, which rejects keys that reach an object's prototype. */
function createJsonParser(app: FastifyInstance) {
  const parse = app.getDefaultJsonParser('error', 'error');
  return (request: FastifyRequest, text: string): Promise<unknown> => {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    void parse(request, text, (cause, value) => {
      if (cause === null) return resolve(value);
      reject(new AppError('malformed', 'cannot read the body: it is not valid JSON', { cause }));
    });
    return promise;
  };
}

/**
 * Other methods of a known path get 405 with `Allow`. OPTIONS gets `Allow` and no CORS headers, so
 * that browsers keep other origins out.
 */
function mountOtherMethods(app: FastifyInstance, routes: StreamRoutes): void {
  const methodsByPath = new Map<string, Set<string>>();
  const all = [
    ...routes.reads,
    ...routes.open,
    ...sessionRoutes,
    ...explorerPaths.map((path) => ({ method: 'GET', path })),
    ...routes.admin.map(({ method, path }) => ({ method, path: adminPrefix + path })),
  ];
  for (const { method, path } of all) {
    const methods = methodsByPath.get(path) ?? new Set(['OPTIONS']);
    methods.add(method);
    if (method === 'GET') methods.add('HEAD');
    methodsByPath.set(path, methods);
  }
  // No HEAD: it would use up the ticket.
  for (const { path } of routes.tickets) methodsByPath.set(path, new Set(['OPTIONS', 'GET']));
  for (const [url, methods] of methodsByPath) {
    const allow = [...methods].sort().join(', ');
    app.route({
      method: app.supportedMethods.filter((method) => method === 'OPTIONS' || !methods.has(method)),
      url,
      handler: async ({ method }, reply) => {
        reply.header('allow', allow);
        if (method === 'OPTIONS') return reply.code(204).send();
        const message = `cannot ${method} here: this route takes ${allow}`;
        throw new AppError('method_not_allowed', message);
      },
    });
  }
}
