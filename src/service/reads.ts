/**
 * Makes everything that is served on the stream port, and its routes, from the configuration. It
 * opens nothing.
 */
import { adminRoutes } from '../admin/admin.ts';
import type { Addresses } from '../admin/quickstart.ts';
import { createStatisticsRoutes } from '../admin/statistics-routes.ts';
import type { Config } from '../config/schema.ts';
import type { CachedGrants } from '../directory/grants.ts';
import type { Directory, Grants } from '../directory/port.ts';
import type { ReceiverStatistics } from '../ingest/receiver-statistics.ts';
import * as options from './options.ts';
import { createMetricsReader } from '../metrics/metrics-reader.ts';
import { createMetricRoutes } from '../metrics/routes.ts';
import type { Queue } from '../queue/port.ts';
import type { RouteParts } from '../server/routes.ts';
import type { Store } from '../store/port.ts';
import { createExportRoutes, createTicketRoutes } from '../stream/export-routes.ts';
import { createExportTickets } from '../stream/export-tickets.ts';
import { createExporter } from '../stream/exporter.ts';
import { createStreamRoutes } from '../stream/routes.ts';
import { createStreamReader } from '../stream/stream-reader.ts';
import { createTailRoutes } from '../stream/tail-routes.ts';
import { createTail } from '../stream/tail.ts';
import type { DirectoryEvents } from '../telemetry/directory-events.ts';
import { createExportEvents } from '../telemetry/export-events.ts';
import type { Instruments } from '../telemetry/instruments.ts';
import { createTailTelemetry } from '../telemetry/tail-events.ts';

interface ReadParts {
  readonly store: Store;
  readonly queue: Queue;
  readonly grants: Grants;
  readonly directory: Directory;
  readonly statistics: ReceiverStatistics;
  readonly instruments: Instruments;
}

export interface StreamParts extends ReadParts {
  readonly directoryEvents: DirectoryEvents;
  readonly grants: CachedGrants;
  readonly addresses: Addresses;
}

type Served = Pick<RouteParts, 'reads' | 'tickets' | 'admin'>;

/** Of a process that has no stream port. */
export const noStreamParts: Served = { reads: [], tickets: [], admin: [] };

export function createStreamParts(config: Config, parts: StreamParts): Served {
  const { directory, grants, queue, store, directoryEvents: telemetry, addresses } = parts;
  const admin = adminRoutes({ directory, grants, queue, store, telemetry }, addresses);
  return { ...createReads(config, parts), admin };
}

function createReads(
  config: Config,
  { store, queue, grants, directory, statistics, instruments }: ReadParts,
): Pick<RouteParts, 'reads' | 'tickets'> {
  const now = Date.now;
  const watermarkNanos = () => queue.watermarkNanos();
  const newestReceiptNanos = (streamId: string | undefined) => queue.newestReceiptNanos(streamId);
  const telemetry = createTailTelemetry(instruments);
  const events = createExportEvents(instruments);

  const logs = createStreamReader({ store, grants, watermarkNanos, now });
  const tail = createTail(
    { store, grants, watermarkNanos, newestReceiptNanos, now, telemetry },
    options.toTailOptions(config),
  );
  const exporter = createExporter({ store, grants, events, now }, options.toExportOptions(config));
  const tickets = createExportTickets(directory, events);
  const metrics = createMetricsReader({ store, grants, now }, options.toMetricsLimits(config));
  return {
    reads: [
      ...createStreamRoutes(logs),
      ...createTailRoutes(tail),
      ...createExportRoutes(exporter, tickets),
      ...createMetricRoutes(metrics),
      ...createStatisticsRoutes({ directory, statistics, queue, now }),
    ],
    tickets: createTicketRoutes(exporter, tickets),
  };
}
