/** The routes without a token: liveness, readiness, metrics, and the OpenAPI document. */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Registry } from 'prom-client';
import { z } from 'zod';

/** A route that needs no token. */
export interface OpenRoute {
  readonly method: 'GET';
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  /** Descriptions by status. */
  readonly answers: Readonly<Record<number, string>>;
  /** Of the JSON that it answers; absent = any. */
  readonly schema?: z.ZodType;
  readonly answer: () => Promise<OpenAnswer>;
}

interface OpenAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: Uint8Array | string;
  /** Present if clients may cache the answer and revalidate it. */
  readonly etag?: string;
}

export interface Answers {
  /** The parts that are not ready, such as `queue`; empty = ready. */
  readonly missing: () => Promise<readonly string[]>;
  readonly metrics: Pick<Registry, 'contentType' | 'metrics'>;
}

const json = 'application/json; charset=utf-8';

export function mountOpenRoutes(app: FastifyInstance, routes: readonly OpenRoute[]): void {
  for (const { path, answer } of routes) {
    app.route({
      method: ['GET', 'HEAD'],
      url: path,
      handler: async (request, reply) => {
        const { status, contentType, body, etag } = await answer();
        if (etag !== undefined) {
          reply.header('cache-control', 'no-cache');
          if (isNotModified(request.headers, reply, etag)) return reply.code(304).send();
        }
        return reply.code(status).header('content-type', contentType).send(body);
      },
    });
  }
}

/** Weak, so that one tag covers every content coding. */
export function etagOf(bytes: Uint8Array): string {
  return `W/"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;
}

/** Sets the ETag, and compares it with `If-None-Match`, weakly (RFC 9110 §13.1.2). */
export function isNotModified(
  headers: IncomingHttpHeaders,
  reply: FastifyReply,
  etag: string,
): boolean {
  reply.header('etag', etag);
  const tags = (headers['if-none-match'] ?? '').split(',').map(withoutWeakPrefix);
  return tags.includes('*') || tags.includes(withoutWeakPrefix(etag));
}

function withoutWeakPrefix(tag: string): string {
  return tag.trim().replace(/^W\//, '');
}

const healthSchema = z.object({ status: z.literal('ok') });

const readinessSchema = z.object({
  status: z.enum(['ready', 'not ready']),
  missing: z.array(z.string()).describe('Parts that are not ready, such as `queue`.'),
});

/** Health, and readiness. */
export function createProbes({ missing }: Pick<Answers, 'missing'>): [OpenRoute, OpenRoute] {
  return [
    {
      ...open('/healthz', 'getHealth', 'Whether the process is alive'),
      schema: healthSchema,
      answer: async () => ({ status: 200, contentType: json, body: '{"status":"ok"}' }),
    },
    {
      ...open('/readyz', 'getReadiness', 'Whether the node is ready'),
      answers: { 200: 'Ready.', 503: 'Not ready, with the parts that are missing.' },
      schema: readinessSchema,
      async answer() {
        const parts = await missing();
        const isReady = parts.length === 0;
        const body = JSON.stringify({ status: isReady ? 'ready' : 'not ready', missing: parts });
        return { status: isReady ? 200 : 503, contentType: json, body };
      },
    },
  ];
}

/** Prometheus text, format 0.0.4. */
export function createMetricsRoute({ metrics }: Pick<Answers, 'metrics'>): OpenRoute {
  const render = createRateLimited(() => metrics.metrics());
  return {
    ...open('/metrics', 'getMetrics', 'Metrics'),
    answer: async () => ({ status: 200, contentType: metrics.contentType, body: await render() }),
  };
}

/**
 * Needs no token and is costly to generate, so it is cached.
 * @param info its `serverUrl` changes when the system has chosen the port.
 */
export function createDocumentRoute(
  info: { readonly serverUrl: string },
  describe: () => unknown,
): OpenRoute {
  let cached: { readonly url: string; readonly answer: OpenAnswer } | undefined;
  return {
    ...open('/openapi.json', 'getOpenApi', 'This document'),
    async answer() {
      const url = info.serverUrl;
      if (cached?.url !== url) {
        const body = Buffer.from(JSON.stringify(describe()));
        cached = { url, answer: { status: 200, contentType: json, body, etag: etagOf(body) } };
      }
      return cached.answer;
    },
  };
}

function open(path: string, operationId: string, summary: string): Omit<OpenRoute, 'answer'> {
  return { method: 'GET', path, operationId, summary, answers: { 200: summary } };
}

/** Rendering takes at most a tenth of one core, while one rendering takes under 11 ms. */
const restFactor = 9;
const longestRestMs = 100;

/**
 * Runs one `make` at a time and rests after each in proportion to its duration. Callers that arrive
 * meanwhile share the next run, so that no result is older than its request.
 */
function createRateLimited<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let last: Promise<unknown> = Promise.resolve();
  let next: Promise<Value> | undefined;
  let restedAtMs = 0;
  const makeNext = async () => {
    const restMs = restedAtMs - performance.now();
    if (restMs > 0) await sleep(restMs);
    next = undefined;
    const startedAtMs = performance.now();
    try {
      return await make();
    } finally {
      const nowMs = performance.now();
      restedAtMs = nowMs + Math.min(longestRestMs, restFactor * (nowMs - startedAtMs));
    }
  };
  return () => {
    if (next === undefined) {
      next = last.then(makeNext);
      last = next.catch(() => undefined);
    }
    return next;
  };
}
