/**
 * A program with metrics of every kind, deterministic by scrape number, and series that come and
 * go.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import {
  bytesField,
  doubleField,
  text,
  varint,
  varintField,
  zigzag,
} from '../harness/proto-wire.ts';
import { toBits } from '../harness/prompb.ts';

export interface ScrapeTarget {
  /** `127.0.0.1:<port>`; `/metrics` is text, `/native` has a native histogram. */
  readonly address: string;
  /** Number of scrapes of `/metrics`. */
  scrapes(): number;
  close(): Promise<void>;
}

export async function startScrapeTarget(): Promise<ScrapeTarget> {
  let scrapes = 0;
  let nativeScrapes = 0;
  const server = createServer((request, response) => {
    if (request.url === '/native') {
      nativeScrapes += 1;
      const type = 'application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily';
      response.setHeader('content-type', `${type}; encoding=delimited`);
      response.end(toNativeExposition(nativeScrapes));
      return;
    }
    scrapes += 1;
    response.setHeader('content-type', 'application/openmetrics-text; version=1.0.0');
    response.end(toExposition(scrapes));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    address: `127.0.0.1:${port}`,
    scrapes: () => scrapes,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** OpenMetrics 1.0. */
function toExposition(n: number): string {
  const trace = n.toString(16).padStart(32, '0');
  return [
    '# HELP app_requests Requests, by "code".\\nSecond line.',
    '# TYPE app_requests counter',
    `app_requests_total{code="200"} ${3 * n} # {trace_id="${trace}"} 0.25`,
    `app_requests_total{code="500"} ${n % 7}`,
    '# HELP app_temperature_celsius Temperature.',
    '# TYPE app_temperature_celsius gauge',
    '# UNIT app_temperature_celsius celsius',
    `app_temperature_celsius{room="Küche \\"1\\" 🍳\\n"} ${20 + Math.sin(n)}`,
    '# TYPE app_special gauge',
    'app_special{value="nan"} NaN',
    `app_special{value="inf"} ${n % 2 === 0 ? '+Inf' : '-Inf'}`,
    // Not -0, which Prometheus sends as 0.
    'app_special{value="zero"} 0',
    'app_special{value="denormal"} 5e-324',
    'app_special{value="large"} 1.7976931348623157e+308',
    // A series that ends and begins again, with a stale marker each time.
    ...(n % 4 < 2 ? ['# TYPE app_coming gauge', `app_coming ${n}`] : []),
    '# HELP app_latency_seconds Latency.',
    '# TYPE app_latency_seconds histogram',
    '# UNIT app_latency_seconds seconds',
    `app_latency_seconds_bucket{le="0.1"} ${n} # {trace_id="${trace}"} 0.07`,
    `app_latency_seconds_bucket{le="0.5"} ${4 * n}`,
    `app_latency_seconds_bucket{le="2.5"} ${9 * n}`,
    `app_latency_seconds_bucket{le="+Inf"} ${10 * n}`,
    `app_latency_seconds_count ${10 * n}`,
    `app_latency_seconds_sum ${7.5 * n}`,
    '# TYPE app_build info',
    'app_build_info{version="1.2.3"} 1',
    '# EOF',
    '',
  ].join('\n');
}

/** One family, `app_native_seconds`, in the delimited protobuf format. */
function toNativeExposition(n: number): Buffer {
  const count = BigInt(n);
  const span = (offset: bigint, length: bigint) =>
    Buffer.concat([varintField(1, zigzag(offset)), varintField(2, length)]);
  // Two adjacent buckets: n observations in the first, twice as many in the second.
  const deltas = Buffer.concat([varint(zigzag(count)), varint(zigzag(count))]);
  const histogram = Buffer.concat([
    varintField(1, 4n * count),
    doubleField(2, toBits(1.5 * n)),
    varintField(5, zigzag(3n)),
    doubleField(6, toBits(2 ** -128)),
    varintField(7, count),
    bytesField(12, span(2n, 2n)),
    bytesField(13, deltas),
  ]);
  const label = Buffer.concat([text(1, 'route'), text(2, '/')]);
  const metric = Buffer.concat([bytesField(1, label), bytesField(7, histogram)]);
  const family = Buffer.concat([
    text(1, 'app_native_seconds'),
    text(2, 'Native histogram.'),
    varintField(3, 4n),
    bytesField(4, metric),
  ]);
  return Buffer.concat([varint(BigInt(family.length)), family]);
}
