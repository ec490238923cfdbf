/** A server with the metric reads on its stream port, over a fake store, and calls to it. */
import assert from 'node:assert/strict';
import { compressSync } from 'snappy';
import { createMetricRoutes } from '../../src/metrics/routes.ts';
import { createFakeMetricStore, type FakeMetricStore } from '../metrics/fake-metric-store.ts';
import { type HeaderList, type Received, transports } from './client.ts';
import { accountId, addToken, type Edge, openEdge } from './edge.ts';

/** The reader's clock. */
export const nowMs = Date.parse('2026-04-01T00:00:00Z');
export const streamId = 'b1946ac9-2492-4d23-8f1a-0a7c3d5e6f70';
export const retentionDays = 30;
const stream = { streamId, accountId, name: 'main', retentionDays, createdAt: '' };
const limits = {
  maxReadSeries: 5,
  maxReadSamples: 4,
  maxQuerySamples: 100,
  maxExemplars: 3,
  maxSelectors: 3,
};

const token = ['Authorization', 'Bearer wra_metrics'] as const;
const account = ['X-Active-Account', accountId] as const;
export const formType = ['Content-Type', 'application/x-www-form-urlencoded'] as const;
export const messageHeaders: HeaderList = [
  ['Content-Type', 'application/x-protobuf'],
  ['Content-Encoding', 'snappy'],
  ['X-Prometheus-Remote-Read-Version', '0.1.0'],
];

export interface Call {
  readonly method?: string;
  /** Replaces the default token and account. */
  readonly headers?: HeaderList;
  readonly body?: string | Buffer;
  readonly transport?: keyof typeof transports;
}

export interface MetricEdge {
  readonly edge: Edge;
  readonly store: FakeMetricStore;
  /** @param path below `/api/v1/prometheus/api/v1/`. */
  call(path: string, options?: Call): Promise<Received>;
  /** The body of a response that must be a success. */
  answer(path: string, options?: Call): Promise<unknown>;
}

export async function openMetricEdge(): Promise<MetricEdge> {
  const store = createFakeMetricStore();
  const streams = async (id: string) =>
    id === accountId ? [{ ...stream, downsampling: null, dataDeletedUntil: null }] : [];
  const reads = createMetricRoutes(
    {
      store: store.parts,
      grants: { streams },
      rules: { listRuleGroups: async () => [] },
      now: () => nowMs,
    },
    limits,
  );
  const edge = await openEdge({ parts: { reads } });
  const access = { type: 'access', receiverId: null } as const;
  addToken(edge.state, 'wra_metrics', { ...access, scopes: new Set(['metrics:read']) });
  addToken(edge.state, 'wra_logs', { ...access, scopes: new Set(['logs:read']) });
  const target = { port: edge.ports.stream, ca: edge.ca };

  function call(path: string, options: Call = {}): Promise<Received> {
    const { method = 'GET', headers = [], body = '', transport = 'HTTP/1.1' } = options;
    const sent = new Set(headers.map(([name]) => name));
    const own = [token, account].filter(([name]) => !sent.has(name));
    return transports[transport](target, {
      method,
      path: `/api/v1/prometheus/api/v1/${path}`,
      headers: [...own, ...headers],
      body,
    });
  }

  async function answer(path: string, options: Call = {}): Promise<unknown> {
    const { status, body } = await call(path, options);
    assert.equal(status, 200, body);
    return JSON.parse(body);
  }

  return { edge, store, call, answer };
}

/** A remote read of `{__name__="up"}` in these ranges, by hand. */
export function readRequest(...ranges: readonly (readonly [number, number])[]): Buffer {
  const matcher = Buffer.concat([Buffer.of(0x12, 8), Buffer.from('__name__'), Buffer.of(0x1a, 2)]);
  const queries = ranges.map(([from, until]) => {
    const fields = Buffer.concat([
      Buffer.of(0x08, from, 0x10, until, 0x1a, matcher.length + 2),
      matcher,
      Buffer.from('up'),
    ]);
    return Buffer.concat([Buffer.of(0x0a, fields.length), fields]);
  });
  return compressSync(Buffer.concat(queries));
}
