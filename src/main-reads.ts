/** Makes everything that can be read, and its routes, from the configuration. It opens nothing. */
import { createStatisticsRoutes } from './admin/statistics-routes.ts';
import type { Config } from './config/schema.ts';
import type { Directory, Grants } from './directory/port.ts';
import type { NewestReceipts } from './ingest/newest-receipts.ts';
import type { ReceiverStatistics } from './ingest/receiver-statistics.ts';
import * as options from './main-options.ts';
import { createMetricsReader } from './metrics/metrics-reader.ts';
import { createMetricRoutes } from './metrics/routes.ts';
import type { Queue } from './queue/port.ts';
import type { RouteParts } from './server/routes.ts';
import type { Store } from './store/port.ts';
import { createExportRoutes, createTicketRoutes } from './stream/export-routes.ts';
import { createExportTickets } from './stream/export-tickets.ts';
import { createExporter } from './stream/exporter.ts';
import { createStreamRoutes } from './stream/routes.ts';
import { createStreamReader } from './stream/stream-reader.ts';
import { createTailRoutes } from './stream/tail-routes.ts';
import { createTail } from './stream/tail.ts';
import { createExportEvents } from './telemetry/export-events.ts';
import type { Instruments } from './telemetry/instruments.ts';
import { createTailTelemetry } from './telemetry/tail-events.ts';

export interface ReadParts {
  readonly store: Store;
  readonly queue: Queue;
  readonly grants: Grants;
  readonly receipts: NewestReceipts;
  readonly directory: Directory;
  readonly statistics: ReceiverStatistics;
  readonly instruments: Instruments;
}

export function createReads(
  config: Config,
  { store, queue, grants, receipts, directory, statistics, instruments }: ReadParts,
): Pick<RouteParts, 'reads' | 'tickets'> {
  const now = Date.now;
  const watermarkNanos = () => queue.watermarkNanos();
  const { newestNanos: newestReceiptNanos } = receipts;
  const telemetry = createTailTelemetry(instruments);
  const events = createExportEvents(instruments);

  const logs = createStreamReader({ store, grants, watermarkNanos, now });
  const tail = createTail(
    { store, grants, watermarkNanos, newestReceiptNanos, now, telemetry },
    options.toTailOptions(config),
  );
  const exporter = createExporter({ store, grants, events, now }, options.toExportOptions(config));
  const tickets = createExportTickets();
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
