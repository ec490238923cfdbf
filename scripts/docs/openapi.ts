/**
 * The OpenAPI documents without a running service: real routes over stubs that are never called.
 */
import { Registry } from 'prom-client';
import { adminRoutes } from '../../src/admin/admin.ts';
import type { AdminParts } from '../../src/admin/context.ts';
import {
  createStatisticsRoutes,
  type StatisticsParts,
} from '../../src/admin/receiver-statistics.ts';
import { configSchema } from '../../src/config/schema.ts';
import { createProtocols } from '../../src/service/protocols.ts';
import { createMetricRoutes, type MetricsReadParts } from '../../src/metrics/routes.ts';
import { ingestDocument, streamDocument } from '../../src/server/openapi.ts';
import { createRoutes } from '../../src/server/routes.ts';
import { createExportRoutes, createTicketRoutes } from '../../src/stream/export-routes.ts';
import type { ExportTickets } from '../../src/stream/export-tickets.ts';
import type { Exporter } from '../../src/stream/exporter.ts';
import { type CompareParts, createCompareRoutes } from '../../src/stream/compare-routes.ts';
import { createPatternRoutes, type PatternParts } from '../../src/stream/pattern-routes.ts';
import { createStreamRoutes, type LogReadParts } from '../../src/stream/routes.ts';
import type { Tail } from '../../src/stream/tail.ts';
import { createTailRoutes } from '../../src/stream/tail-routes.ts';
import { version } from '../../src/service/version.ts';

const addresses = { ingestUrl: 'https://localhost:8443', streamUrl: 'https://localhost:8444' };

export function openApiDocuments(): Readonly<Record<'ingest' | 'stream', object>> {
  const ingestInfo = { version, serverUrl: addresses.ingestUrl };
  const streamInfo = { version, serverUrl: addresses.streamUrl };
  const routes = createRoutes({
    protocols: createProtocols(configSchema.parse({})),
    reads: [
      ...createStreamRoutes(neverAsked<LogReadParts>()),
      ...createPatternRoutes(neverAsked<PatternParts>()),
      ...createCompareRoutes(neverAsked<CompareParts>()),
      ...createExportRoutes(neverAsked<Exporter>(), neverAsked<ExportTickets>()),
      ...createTailRoutes(neverAsked<Tail>()),
      ...createMetricRoutes(neverAsked<MetricsReadParts>(), configSchema.parse({}).metrics),
      ...createStatisticsRoutes(neverAsked<StatisticsParts>()),
    ],
    tickets: createTicketRoutes(neverAsked<Exporter>(), neverAsked<ExportTickets>()),
    admin: adminRoutes(neverAsked<AdminParts>(), addresses),
    ingestInfo,
    streamInfo,
    missing: async () => [],
    metrics: new Registry(),
  });
  return {
    ingest: ingestDocument(routes.ingest, ingestInfo),
    stream: streamDocument(routes.stream, streamInfo),
  };
}

function neverAsked<T>(): T {
  return {} as T;
}
