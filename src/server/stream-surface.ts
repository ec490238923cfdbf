/**
 * The stream port: reads and the control API. Who asks and for which account is settled before a
 * parameter or a body is looked at, and no answer may be kept by a cache.
 */
import type { FastifyInstance, FastifyRequest, HTTPMethods } from 'fastify';
import { type AdminCaller, checkAccount, checkScope } from '../admin/authority.ts';
import type { AdminRoute } from '../admin/routes.ts';
import type { Admission } from '../admission/port.ts';
import { AppError } from '../model/errors.ts';
import { explorerPaths, mountExplorer } from './explorer.ts';
import { jsonType, mountRead, mountTicket } from './mount-read.ts';
import type { RouteTable } from './route.ts';
import { createDepartures } from './streamed-answer.ts';
import { createSurface, mountOpenRoutes, type SurfaceContext } from './surface.ts';
import { readHeaders } from './transport.ts';

/** On every answer of this surface, errors included (SPEC §5). */
export const privateHeaders = {
  'cache-control': 'private, no-store',
  vary: 'Authorization, X-Active-Account',
  'x-content-type-options': 'nosniff',
} as const;

export const adminPrefix = '/api/v1/admin';

export function createStreamSurface(
  context: SurfaceContext,
  routes: RouteTable['stream'],
  { admission, explorerDirectory }: { admission: Admission; explorerDirectory: string },
): FastifyInstance {
  const app = createSurface(context);
  mountExplorer(app, explorerDirectory);
  const departures = createDepartures(app);
  for (const route of routes.reads) mountRead(app, context, route, { admission, departures });
  for (const route of routes.tickets) mountTicket(app, route, { admission, departures });
  for (const route of routes.admin) mountAdmin(app, route, admission);
  mountOpenRoutes(app, routes.open);
  mountOtherMethods(app, routes);
  return app;
}

interface AdminIdentity {
  readonly caller: AdminCaller;
  readonly accountId: string | undefined;
}

function mountAdmin(app: FastifyInstance, route: AdminRoute, admission: Admission): void {
  // Kept beside the request while its body is read.
  const identities = new WeakMap<FastifyRequest, AdminIdentity>();
  app.route({
    method: route.method === 'GET' ? ['GET', 'HEAD'] : route.method,
    url: adminPrefix + route.path,
    onRequest: async (request) => {
      const headers = readHeaders(request.raw);
      const caller = await admission.token(admission.bearer(headers), 'access'); // 401, 503
      const isNamed = route.accountScoped || headers.activeAccount.length > 0;
      const accountId = isNamed ? admission.activeAccount(headers) : undefined; // 400
      if (route.accountScoped && accountId !== undefined) checkAccount(caller, accountId); // 403
      checkScope(caller, route.scope); // 403
      identities.set(request, { caller, accountId });
    },
    handler: async (request, reply) => {
      const identity = identities.get(request);
      if (identity === undefined) throw new Error('the handler ran before its checks');
      const { params, body } = request;
      const answer = await route.handle({ ...identity, params, body });
      reply.code(route.successStatus);
      if (route.response === undefined) return reply.send();
      return reply.header('content-type', jsonType).send(JSON.stringify(answer));
    },
  });
}

const allMethods: HTTPMethods[] = [
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
];

/**
 * Known paths answer other methods with 405 and `Allow`; OPTIONS tells the same, and nothing about
 * other origins.
 */
function mountOtherMethods(app: FastifyInstance, routes: RouteTable['stream']): void {
  const methodsByPath = new Map<string, Set<string>>();
  const all = [
    ...routes.reads,
    ...routes.open,
    ...explorerPaths.map((path) => ({ method: 'GET', path })),
    ...routes.admin.map(({ method, path }) => ({ method, path: adminPrefix + path })),
  ];
  for (const { method, path } of all) {
    const methods = methodsByPath.get(path) ?? new Set(['OPTIONS']);
    methods.add(method);
    if (method === 'GET') methods.add('HEAD');
    methodsByPath.set(path, methods);
  }
  // Without HEAD, which would bring nothing for its ticket.
  for (const { path } of routes.tickets) methodsByPath.set(path, new Set(['OPTIONS', 'GET']));
  for (const [url, methods] of methodsByPath) {
    const allow = [...methods].sort().join(', ');
    app.route({
      method: allMethods.filter((method) => method === 'OPTIONS' || !methods.has(method)),
      url,
      onRequest: async (request, reply) => {
        reply.header('allow', allow);
        if (request.method === 'OPTIONS') return reply.code(204).send();
        throw new AppError(
          'method_not_allowed',
          `cannot ${request.method} here: this route takes ${allow}`,
        );
      },
      handler: () => {},
    });
  }
}
