/** The whole route table: every address Weir answers at, on one screen. */
import type { AdminRoute } from '../admin/routes.ts';
import type { Protocol } from '../model/protocol.ts';
import type { ReadRoute, TicketRoute } from '../model/read-route.ts';
import { type Answers, answerHealth, answerReadiness, createMetricsAnswer } from './health.ts';
import { jsonLogsDescription } from './describe-json-logs.ts';
import { otlpLogsDescription } from './describe-otlp.ts';
import { promTextDescription, remoteWriteDescription } from './describe-prometheus.ts';
import { etagOf } from './etag.ts';
import { streamDocument } from './openapi.ts';
import { type IngestDescription, ingestDocument } from './openapi-ingest.ts';
import type { DocumentInfo } from './openapi-parts.ts';
import type { IngestRoute, OpenAnswer, OpenRoute, RouteTable } from './route.ts';

/** One for each way in. */
export interface Protocols {
  readonly jsonLogs: Protocol;
  readonly otlpLogs: Protocol;
  /** Has no address of its own: gRPC names the method, and the token the receiver. */
  readonly otlpGrpc: Protocol;
  readonly promText: Protocol;
  readonly remoteWrite: Protocol;
}

interface StreamParts {
  readonly reads: readonly ReadRoute[];
  readonly tickets: readonly TicketRoute[];
  readonly admin: readonly AdminRoute[];
}

export interface RouteParts extends Answers, StreamParts {
  readonly protocols: Protocols;
  readonly ingestInfo: DocumentInfo;
  readonly streamInfo: DocumentInfo;
}

export function createRoutes(parts: RouteParts): RouteTable {
  const { jsonLogs, otlpLogs, promText, remoteWrite } = parts.protocols;
  const probes = createProbes(parts);

  const table: RouteTable = {
    ingest: {
      data: [
        ingest('logs', jsonLogs, jsonLogsDescription),
        { ...ingest('otlp/v1/logs', otlpLogs, otlpLogsDescription), area: receiver('otlp') },
        ingest('prometheus/metrics', promText, promTextDescription),
        ingest('prometheus/api/v1/write', remoteWrite, remoteWriteDescription),
      ],
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

/** @param path below the receiver's own */
function ingest(path: string, protocol: Protocol, description: IngestDescription): IngestRoute {
  return { method: 'POST', path: receiver(path), protocol, description };
}

function receiver(path: string): string {
  return `/v1/receivers/:receiverId/${path}`;
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
