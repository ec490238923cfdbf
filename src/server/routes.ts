/** The whole route table: every address Weir answers at, on one screen. */
import type { AdminRoute } from '../admin/routes.ts';
import type { Protocol } from '../model/protocol.ts';
import type { StreamRoute } from '../stream/routes.ts';
import { type Answers, answerHealth, answerMetrics, answerReadiness } from './health.ts';
import { type DocumentInfo, ingestDocument, streamDocument } from './openapi.ts';
import { jsonLogsDescription } from './openapi-ingest.ts';
import type { OpenAnswer, OpenRoute, RouteTable } from './route.ts';

export interface RouteParts extends Answers {
  readonly protocols: { readonly jsonLogs: Protocol };
  readonly reads: readonly StreamRoute[];
  readonly admin: readonly AdminRoute[];
  readonly ingestInfo: DocumentInfo;
  readonly streamInfo: DocumentInfo;
}

export function createRoutes(parts: RouteParts): RouteTable {
  const { jsonLogs } = parts.protocols;
  const probes = [
    open('/healthz', 'getHealth', 'Whether the process runs', () => answerHealth()),
    open('/readyz', 'getReadiness', 'Whether it can do its work', () => answerReadiness(parts)),
  ];
  const documentRoute = (answer: () => unknown) =>
    open('/openapi.json', 'getOpenApi', 'This document', async () => toJson(answer()));

  const table: RouteTable = {
    ingest: {
      data: [
        {
          method: 'POST',
          path: '/v1/receivers/:receiverId/logs',
          protocol: jsonLogs,
          description: jsonLogsDescription,
        },
      ],
      open: [...probes, documentRoute(() => ingestDocument(table.ingest, parts.ingestInfo))],
    },
    stream: {
      reads: parts.reads,
      admin: parts.admin,
      open: [...probes, documentRoute(() => streamDocument(table.stream, parts.streamInfo))],
    },
    ops: {
      open: [...probes, open('/metrics', 'getMetrics', 'Metrics', () => answerMetrics(parts))],
    },
  };
  return table;
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

function toJson(value: unknown): OpenAnswer {
  return {
    status: 200,
    contentType: 'application/json; charset=utf-8',
    body: JSON.stringify(value),
  };
}
