/** The whole route table: every address Weir answers at, on one screen. */
import type { AdminRoute } from '../admin/routes.ts';
import type { Protocol } from '../model/protocol.ts';
import type { ReadRoute, TicketRoute } from '../model/read-route.ts';
import { type Answers, answerHealth, answerReadiness, createMetricsAnswer } from './health.ts';
import { etagOf } from './etag.ts';
import { streamDocument } from './openapi.ts';
import { ingestDocument } from './openapi-ingest.ts';
import type { DocumentInfo } from './openapi-parts.ts';
import type { IngestRoute, OpenAnswer, OpenRoute, RouteTable } from './route.ts';

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
  const probes = createProbes(parts);

  const table: RouteTable = {
    ingest: {
      data: parts.protocols.flatMap(toIngestRoutes),
      open: [
        ...probes,
        documentRoute(parts.ingestInfo, () => ingestDocument(table.ingest, parts.ingestInfo)),
      ],
    },
    stream: {
      reads: parts.reads,
      tickets: parts.tickets,
      admin: parts.admin,
      open: [
        ...probes,
        documentRoute(parts.streamInfo, () => streamDocument(table.stream, parts.streamInfo)),
      ],
    },
    ops: createOpsRoutes(parts),
  };
  return table;
}

export function createOpsRoutes(answers: Answers): RouteTable['ops'] {
  const metrics = open('/metrics', 'getMetrics', 'Metrics', createMetricsAnswer(answers));
  return { open: [...createProbes(answers), metrics] };
}

function createProbes(answers: Answers): OpenRoute[] {
  return [
    open('/healthz', 'getHealth', 'Whether the process runs', () => answerHealth()),
    open('/readyz', 'getReadiness', 'Whether it can do its work', () => answerReadiness(answers)),
  ];
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

function open(
  path: string,
  operationId: string,
  summary: string,
  answer: OpenRoute['answer'],
): OpenRoute {
  const answers =
    path === '/readyz' ? { 200: 'It can.', 503: 'It cannot, and why.' } : { 200: summary };
  return { method: 'GET', path, operationId, summary, answers, answer };
}

/** Open to everyone and costly to make: made once for each address that it names. */
function documentRoute(info: DocumentInfo, describe: () => unknown): OpenRoute {
  let made: { readonly serverUrl: string; readonly answer: OpenAnswer } | undefined;
  return open('/openapi.json', 'getOpenApi', 'This document', async () => {
    // Ports that the system chooses are known only once they are bound.
    const { serverUrl } = info;
    if (made?.serverUrl !== serverUrl) made = { serverUrl, answer: toJson(describe()) };
    return made.answer;
  });
}

function toJson(value: unknown): OpenAnswer {
  const body = Buffer.from(JSON.stringify(value));
  const contentType = 'application/json; charset=utf-8';
  return { status: 200, contentType, body, etag: etagOf(body) };
}
