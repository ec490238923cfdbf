/**
 * Every setting of Weir, once: type, unit, default, bounds and one sentence. Flags, environment
 * names, the file's keys and docs/config.md are all derived from this tree.
 */
import { z } from 'zod';
import { ingestSection } from './schema-ingest.ts';
import { quotaSection } from './schema-quota.ts';
import { gibibyte, integer, mebibyte, section, text, words } from './schema-parts.ts';
import { queueSection } from './schema-queue.ts';
import { storeSection } from './schema-store.ts';

export const configSchema = z.strictObject({
  data: text('path', './data', 'Folder that holds everything Weir keeps.'),
  roles: words(
    ['gateway', 'stream', 'writer', 'engine'],
    'What this process does: take events in, answer reads, fill the store, be the store; ' +
      'empty = all that no server does.',
  ),
  workers: integer(
    'count',
    1,
    1,
    256,
    'Processes that take events in on this machine, for as many cores.',
  ),
  shutdownDelaySeconds: integer(
    's',
    0,
    0,
    300,
    'Once asked to stop, requests are still served so long while /readyz says 503 already: time ' +
      'for a load balancer to notice.',
  ),
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
    maxTails: integer(
      'count',
      1000,
      0,
      100_000,
      'Most live tails at once, half of them for one account; beyond it 503.',
    ),
    tailHeartbeatMs: integer(
      'ms',
      5000,
      100,
      50_000,
      'A live tail without logs gives a sign of life so often.',
    ),
    maxExports: integer(
      'count',
      8,
      1,
      1000,
      'Most exports of logs at a time, half of them for one account; further ones are refused ' +
        'with 503.',
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
  queue: queueSection,
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
  store: storeSection,
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
    host: text(
      undefined,
      '127.0.0.1',
      'Address on which an engine without other roles serves processes that have it as their ' +
        'store.url; anything but this machine needs store.password.',
    ),
    port: integer('port', 8123, 0, 65535, 'Its port, plain HTTP; 0 = any free port.'),
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
    waitSeconds: integer(
      's',
      30,
      0,
      3600,
      'How long a start waits for a PostgreSQL that does not answer yet, before it gives up.',
    ),
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
