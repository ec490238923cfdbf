/** The table of all routes. */
import type { Protocol } from '../model/protocol.ts';
import type { HttpProtocol, IngestRoutes } from './ingest-surface.ts';
import {
  type Answers,
  createDocumentRoute,
  createMetricsRoute,
  createProbes,
  type OpenRoute,
} from './open-routes.ts';
import { ingestDocument, streamDocument } from './openapi.ts';
import type { DocumentInfo } from './openapi-parts.ts';
import type { StreamRoutes } from './stream-surface.ts';

export interface RouteParts extends Answers, Pick<StreamRoutes, 'reads' | 'tickets' | 'admin'> {
  readonly protocols: readonly Protocol[];
  readonly ingestInfo: DocumentInfo;
  readonly streamInfo: DocumentInfo;
}

export function createRoutes(parts: RouteParts) {
  const { ingestInfo, streamInfo, reads, tickets, admin } = parts;
  const probes = createProbes(parts);
  const hasRoute = (protocol: Protocol): protocol is HttpProtocol => protocol.http !== undefined;
  const ingest: IngestRoutes = {
    data: parts.protocols.filter(hasRoute),
    open: [...probes, createDocumentRoute(ingestInfo, () => ingestDocument(ingest, ingestInfo))],
  };
  const stream: StreamRoutes = {
    reads,
    tickets,
    admin,
    open: [
      ...probes,
      ...prometheusProbes(probes),
      createDocumentRoute(streamInfo, () => streamDocument(stream, streamInfo)),
    ],
  };
  return { ingest, stream, ops: createOpsRoutes(parts) };
}

/** `promtool check healthy` and `ready` ask below the URL of a Prometheus. */
function prometheusProbes(probes: ReturnType<typeof createProbes>): OpenRoute[] {
  const [health, readiness] = probes;
  const below = '/api/v1/prometheus/-';
  return [
    { ...health, path: `${below}/healthy`, operationId: 'getPrometheusHealth' },
    { ...readiness, path: `${below}/ready`, operationId: 'getPrometheusReadiness' },
  ];
}

export function createOpsRoutes(answers: Answers): readonly OpenRoute[] {
  return [...createProbes(answers), createMetricsRoute(answers)];
}
