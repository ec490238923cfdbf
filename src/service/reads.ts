/** Builds the routes of the stream port: reads of logs and metrics, and the control API. */
import { adminRoutes } from '../admin/admin.ts';
import type { Addresses } from '../admin/quickstart.ts';
import { createStatisticsRoutes } from '../admin/receiver-statistics.ts';
import type { Oidc, OidcParts } from '../admin/oidc.ts';
import { parseGrants } from '../admin/oidc-grants.ts';
import { createSessions, type Sessions } from '../admin/sessions.ts';
import { createUrlCheck } from '../alerts/post.ts';
import type { Config } from '../config/schema.ts';
import { createMetricRoutes } from '../metrics/routes.ts';
import type { Queue } from '../queue/port.ts';
import type { ServerParts } from '../server/server.ts';
import type { Store } from '../store/port.ts';
import { createExportRoutes, createTicketRoutes } from '../stream/export-routes.ts';
import { createExportTickets } from '../stream/export-tickets.ts';
import { createExporter } from '../stream/exporter.ts';
import { createCompareRoutes } from '../stream/compare-routes.ts';
import { createPatternRoutes } from '../stream/pattern-routes.ts';
import { checkLogsRule } from '../stream/stats/rule-query.ts';
import { createStreamRoutes } from '../stream/routes.ts';
import { createTailRoutes } from '../stream/tail-routes.ts';
import { createTail } from '../stream/tail.ts';
import { createExportEvents, createTailEvents } from '../telemetry/request-events.ts';
import { createRulePreview } from './alerts.ts';
import type { DirectoryParts } from './open-directory.ts';
import type { Opening } from './opening.ts';

export interface ReadParts extends Omit<DirectoryParts, 'statistics'> {
  readonly statistics: Pick<DirectoryParts['statistics'], 'history'>;
  readonly store: Store;
  readonly queue: Queue;
  readonly addresses: Addresses;
}

export type StreamRoutes = Pick<ServerParts, 'reads' | 'tickets' | 'admin' | 'sessions' | 'oidc'>;

const ruleOptions = { checkLogs: checkLogsRule };
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

export const noStreamRoutes: StreamRoutes = { reads: [], tickets: [], admin: [] };

export async function createReads(
  { config, instruments }: Pick<Opening, 'config' | 'instruments'>,
  { store, queue, grants, directory, statistics, directoryEvents, addresses }: ReadParts,
): Promise<StreamRoutes> {
  const now = Date.now;
  const watermarkNanos = () => queue.watermarkNanos();
  const newestReceiptNanos = (streamId: string | undefined) => queue.newestReceiptNanos(streamId);
  const events = createExportEvents(instruments);

  const telemetry = createTailEvents(instruments);
  const tail = createTail(
    { store, grants, watermarkNanos, newestReceiptNanos, now, telemetry },
    config.stream,
  );
  const exporter = createExporter({ store, grants, events, now }, config.stream);
  const tickets = createExportTickets(directory, events);
  const sessions = sessionsOf(config, directory);
  const previewRules = createRulePreview(config, { store, grants, now });
  return {
    reads: [
      ...createStreamRoutes({ store, grants, watermarkNanos, now }),
      ...createPatternRoutes({ store, grants, now }),
      ...createCompareRoutes({ store, grants, now }),
      ...createTailRoutes(tail),
      ...createExportRoutes(exporter, tickets),
      ...createMetricRoutes(
        { store, grants, rules: directory, now },
        { ...config.metrics, queryTimeoutSeconds: config.store.queryTimeoutSeconds },
      ),
      ...createStatisticsRoutes({ directory, statistics, queue, now }),
    ],
    tickets: createTicketRoutes(exporter, tickets),
    admin: adminRoutes(
      {
        directory,
        grants,
        queue,
        store,
        telemetry: directoryEvents,
        ruleOptions,
        previewRules,
        checkNotifierUrl: createUrlCheck(config.alerts),
      },
      addresses,
    ),
    sessions,
    oidc: await oidcOf(config, { directory, sessions, telemetry: directoryEvents }),
  };
}

/** Without state: all callers have the same sessions. */
export function sessionsOf(
  { stream }: Config,
  store: Parameters<typeof createSessions>[0],
): Sessions {
  const { sessionMaxDays, sessionIdleHours } = stream;
  return createSessions(store, {
    maxMs: sessionMaxDays * dayMs,
    idleMs: sessionIdleHours * hourMs,
  });
}

/** @throws Error with the invalid setting */
async function oidcOf({ oidc }: Config, parts: OidcParts): Promise<Oidc | undefined> {
  const { issuer, clientId, grants } = oidc;
  if (issuer === '') return undefined;
  if (clientId === '') throw new Error('cannot use oidc.issuer without oidc.clientId');
  if (grants.length === 0) {
    throw new Error('cannot use oidc.issuer without oidc.grants: nobody could sign in');
  }
  // A dynamic import: the client of OpenID Connect is loaded only if it is used.
  const { createOidc } = await import('../admin/oidc.ts');
  return createOidc({ ...oidc, grants: parseGrants(grants) }, parts);
}
