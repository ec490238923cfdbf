/** Settings of the ingest port and its limits. */
import { maxRowsPerBatch } from '../model/log-id.ts';
import {
  addressRanges,
  gibibyte,
  integer,
  mebibyte,
  section,
  text,
  webUrl,
} from './schema-parts.ts';

export const ingestSection = section({
  host: text().describe('Address the ingest port listens on; empty = all.'),
  port: integer('port', 8443, 0, 65535).describe(
    'TLS port for senders; 0 = any free port, 443 in production.',
  ),
  publicUrl: webUrl('https://weir.example.com:8443', 'https', 'http').describe(
    'URL of the ingest port for senders; empty = https://localhost and the port.',
  ),
  trustedProxies: addressRanges().describe(
    'CIDR ranges of proxies whose X-Forwarded-For is trusted.',
  ),
  maxInFlightBytes: integer('bytes', 256 * mebibyte, mebibyte, 64 * gibibyte).describe(
    'Memory for all requests in flight; beyond it the response is 503.',
  ),
  maxConnections: integer('count', 10_000, 1, 1_000_000).describe(
    'Open connections; more are closed at once.',
  ),
  maxConnectionsPerAddress: integer('count', 4_000, 1, 1_000_000).describe(
    'Open connections from one address (of IPv6, one /64) on both TLS ports; more are closed at ' +
      'once. Trusted proxies are exempt.',
  ),
  newConnectionsPerSecond: integer('count', 200, 1, 1_000_000).describe(
    'New connections per second from one address, with a burst of five seconds; more are closed. ' +
      'Trusted proxies are exempt.',
  ),
  maxStreamsPerConnection: integer('count', 100, 1, 10_000).describe(
    'HTTP/2 streams open at once on one connection.',
  ),
  headersTimeoutMs: integer('ms', 10_000, 100, 600_000).describe(
    'Timeout for the headers of a request.',
  ),
  bodyTimeoutMs: integer('ms', 30_000, 100, 3_600_000).describe(
    'Timeout for the body of a request.',
  ),
  minBodyBytesPerSecond: integer('bytes', 1024, 0, gibibyte).describe(
    'Minimum rate of a body after its first ten seconds; slower ones are cut off. 0 = none.',
  ),
  jsonMaxBodyBytes: integer('bytes', 10 * mebibyte, 1, gibibyte).describe(
    'Largest body of plain JSON logs; beyond it the response is 413.',
  ),
  jsonMaxEvents: integer('events', 50_000, 1, maxRowsPerBatch).describe(
    'Most events in one body of JSON logs, of any protocol; beyond it the response is 413.',
  ),
  jsonMaxDepth: integer('count', 64, 2, 1000).describe(
    'Deepest nesting inside a JSON event; beyond it the response is 400.',
  ),
  ...limitsOfOtlp(),
  ...limitsOfPrometheus(),
});

function limitsOfOtlp() {
  return {
    otlpMaxBodyBytes: integer('bytes', 16 * mebibyte, 1, gibibyte).describe(
      'Largest gzip body or message of OTLP on the wire; beyond it the response is 413.',
    ),
    otlpMaxProtobufBytes: integer('bytes', 64 * mebibyte, 1, gibibyte).describe(
      'Largest OTLP protobuf, decompressed; beyond it the response is 413.',
    ),
    otlpMaxJsonBytes: integer('bytes', 16 * mebibyte, 1, gibibyte).describe(
      'Largest OTLP JSON, decompressed; beyond it the response is 413.',
    ),
    otlpMaxRecords: integer('events', 200_000, 1, maxRowsPerBatch).describe(
      'Most log records in one OTLP request; beyond it the response is 413.',
    ),
    otlpMaxDepth: integer('count', 64, 2, 300).describe(
      'Deepest nesting of values in an OTLP record; beyond it the response is 400.',
    ),
  };
}

function limitsOfPrometheus() {
  return {
    promTextMaxBodyBytes: integer('bytes', 16 * mebibyte, 1, gibibyte).describe(
      'Largest text or OpenMetrics push; beyond it the response is 413.',
    ),
    promTextMaxSamples: integer('events', 200_000, 1, maxRowsPerBatch).describe(
      'Most samples in one text or OpenMetrics push; beyond it the response is 413.',
    ),
    remoteWriteMaxBodyBytes: integer('bytes', 16 * mebibyte, 1, gibibyte).describe(
      'Largest remote_write body on the wire; beyond it the response is 413.',
    ),
    remoteWriteMaxInflatedBytes: integer('bytes', 64 * mebibyte, 1, gibibyte).describe(
      'Largest remote_write body, decompressed; beyond it the response is 413.',
    ),
    remoteWriteMaxSamples: integer('events', 200_000, 1, maxRowsPerBatch).describe(
      'Most samples in one remote_write request; beyond it the response is 413.',
    ),
  };
}
