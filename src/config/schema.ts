/**
 * Every setting of Weir, once: type, unit, default, bounds and one sentence. Flags, environment
 * names, the file's keys and docs/config.md are all derived from this tree.
 */
import { z } from 'zod';
import { ingestSection } from './schema-ingest.ts';
import { quotaSection } from './schema-quota.ts';
import { gibibyte, integer, mebibyte, section, text } from './schema-parts.ts';

export const configSchema = z.strictObject({
  data: text('path', './data', 'Folder that holds everything Weir keeps.'),
  logLevel: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info').meta({
    description: 'The least severe of its own log lines that Weir writes to standard error.',
  }),
  ingest: ingestSection,
  stream: section({
    host: text(undefined, '', 'Address the stream port listens on; empty = all.'),
    port: integer(
      'port',
      8444,
      0,
      65535,
      'TLS port for readers and the control API; 0 = any free port.',
    ),
    publicUrl: text(
      'url',
      '',
      'What readers call the stream port; empty = https://localhost and the port.',
    ),
    maxTails: integer('count', 500, 0, 100_000, 'Most live tails at once; beyond it 503.'),
    tailHeartbeatMs: integer(
      'ms',
      5000,
      100,
      50_000,
      'A live tail without logs gives a sign of life so often.',
    ),
    maxExports: integer(
      'count',
      4,
      1,
      1000,
      'Most exports of logs at a time; further ones are refused with 503.',
    ),
  }),
  ops: section({
    host: text(
      undefined,
      '127.0.0.1',
      'Address of the plain HTTP port with metrics and health about Weir itself.',
    ),
    port: integer('port', 9464, 0, 65535, 'Port of metrics and health; 0 = any free port.'),
  }),
  tls: section({
    certFile: text(
      'path',
      '',
      'Certificate chain in PEM, read again when it changes; empty = a local authority is made.',
    ),
    keyFile: text('path', '', 'Private key of the certificate in PEM.'),
  }),
  queue: section({
    segmentBytes: integer(
      'bytes',
      64 * mebibyte,
      mebibyte,
      4 * gibibyte,
      'Size at which a new log segment is begun.',
    ),
    minFreeDiskBytes: integer(
      'bytes',
      gibibyte,
      0,
      1024 * gibibyte,
      'Free disk below which new events are refused with 503.',
    ),
    maxBacklogBytes: integer(
      'bytes',
      0,
      0,
      1024 * 1024 * gibibyte,
      'Backlog at which new events are refused with 503; 0 = only the disk is the limit.',
    ),
    memoryTailBytes: integer(
      'bytes',
      16 * mebibyte,
      0,
      64 * gibibyte,
      'Newest events kept in memory for the drain; what it lags further behind is read from disk.',
    ),
    idempotencyTtlHours: integer('h', 24, 1, 168, 'How long an Idempotency-Key is remembered.'),
    idempotencyKeys: integer(
      'count',
      1_000_000,
      1000,
      10_000_000,
      'Most Idempotency-Keys remembered; the oldest go first.',
    ),
  }),
  drain: section({
    maxRows: integer('rows', 1_000_000, 1, 1_000_000, 'Most rows in one insert into the store.'),
    maxBytes: integer(
      'bytes',
      64 * mebibyte,
      mebibyte,
      gibibyte,
      'Most bytes in one insert into the store.',
    ),
  }),
  store: section({
    url: text('url', '', 'A ClickHouse server to use in place of the embedded engine.'),
    user: text(undefined, 'default', 'User at that server.'),
    password: text(undefined, '', 'Password at that server.'),
    database: text(undefined, 'weir', 'Database that holds the tables.'),
    maxDiskBytes: integer(
      'bytes',
      0,
      0,
      1024 * 1024 * gibibyte,
      'Size of the tables at which the oldest day is dropped; 0 = no cap.',
    ),
    queryTimeoutSeconds: integer(
      's',
      30,
      1,
      3600,
      'Longest a read may take; beyond it the answer is 503.',
    ),
    queryMemoryBytes: integer(
      'bytes',
      320 * mebibyte,
      16 * mebibyte,
      256 * gibibyte,
      'Most memory one read may take; beyond it the answer is 503.',
    ),
  }),
  metrics: section({
    maxSeriesPerAccount: integer(
      'count',
      1_000_000,
      1,
      4_000_000,
      'Most series an account may send in a day; samples of further ones are refused.',
    ),
    maxLabels: integer('count', 64, 1, 1000, 'Most labels of a series, its name included.'),
    maxLabelNameLength: integer(
      'count',
      1024,
      1,
      65_536,
      'Longest name of a label, in characters.',
    ),
    maxLabelValueLength: integer(
      'count',
      8192,
      1,
      1_048_576,
      'Longest value of a label, in characters.',
    ),
    maxReadSeries: integer(
      'count',
      100_000,
      1,
      10_000_000,
      'Most series one read of metrics may touch; beyond it the answer is an error.',
    ),
    maxReadSamples: integer(
      'count',
      5_000_000,
      1,
      100_000_000,
      'Most samples one read of metrics may answer with; beyond it the answer is an error.',
    ),
  }),
  engine: section({
    memoryBytes: integer(
      'bytes',
      1280 * mebibyte,
      256 * mebibyte,
      1024 * gibibyte,
      'Memory cap of the embedded engine.',
    ),
    threads: integer('count', 0, 0, 256, 'Threads one query may use; 0 = as many as cores.'),
  }),
  directory: section({
    url: text(
      'url',
      '',
      'A PostgreSQL database for several nodes to share, as postgres://user@host/database' +
        '?sslmode=verify-full; empty = a file in the data folder.',
    ),
    password: text(undefined, '', 'Password at PostgreSQL, in place of one in the URL.'),
    poolSize: integer('count', 10, 5, 1000, 'Most connections to PostgreSQL.'),
    staleForSeconds: integer(
      's',
      60,
      0,
      3600,
      'How long known tokens keep working while the directory is away.',
    ),
  }),
  quota: quotaSection,
  statistics: section({
    retentionDays: integer('d', 7, 1, 90, 'How long the counts of receivers are kept.'),
    flushSeconds: integer('s', 5, 1, 60, 'How often they are written; what a crash may lose.'),
  }),
});

export type Config = z.infer<typeof configSchema>;
