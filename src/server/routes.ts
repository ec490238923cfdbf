/** The whole route table. */
import type { AdminRoute } from '../admin/routes.ts';
import type { Protocol } from '../model/protocol.ts';
import type { ReadRoute, TicketRoute } from '../model/read-route.ts';
import {
  type Answers,
  createDocumentRoute,
  createMetricsRoute,
  createProbes,
} from './open-routes.ts';
import { streamDocument } from './openapi.ts';
import { ingestDocument } from './openapi-ingest.ts';
import type { DocumentInfo } from './openapi-parts.ts';
import type { IngestRoute, RouteTable } from './route.ts';

interface StreamParts {
  readonly reads: readonly ReadRoute[];
  readonly tickets: readonly TicketRoute[];
  readonly admin: readonly AdminRoute[];
}

export interface RouteParts extends Answers, StreamParts {
  readonly protocols: readonly Protocol[];
  readonly ingestInfo: DocumentInfo;
  readonly streamInfo: DocumentInfo;
}

export function createRoutes(parts: RouteParts): RouteTable {
  const { ingestInfo, streamInfo } = parts;
  const probes = createProbes(parts);

  const table: RouteTable = {
    ingest: {
      data: parts.protocols.flatMap(toIngestRoutes),
      open: [
        ...probes,
        createDocumentRoute(ingestInfo, () => ingestDocument(table.ingest, ingestInfo)),
      ],
    },
    stream: {
      reads: parts.reads,
      tickets: parts.tickets,
      admin: parts.admin,
      open: [
        ...probes,
        createDocumentRoute(streamInfo, () => streamDocument(table.stream, streamInfo)),
      ],
    },
    ops: createOpsRoutes(parts),
  };
  return table;
}

export function createOpsRoutes(answers: Answers): RouteTable['ops'] {
  return { open: [...createProbes(answers), createMetricsRoute(answers)] };
}

function toIngestRoutes(protocol: Protocol): IngestRoute[] {
  if (protocol.http === undefined) return [];
  const { path, prefix, description } = protocol.http;
  const receiver = '/v1/receivers/:receiverId';
  return [
    {
      method: 'POST',
      path: `${receiver}/${path}`,
      protocol,
      description,
      prefix: prefix === undefined ? undefined : `${receiver}/${prefix}`,
    },
  ];
}
