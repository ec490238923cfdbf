/** Settings of the queue: the log on this machine's disk, or NATS JetStream for several nodes. */
import { z } from 'zod';
import { gibibyte, integer, list, mebibyte, section, text } from './schema-parts.ts';

export const queueSection = section({
  urls: list().describe(
    'NATS JetStream servers that all nodes share as their queue, as nats://host:4222 or tls://; ' +
      'some servers of a cluster are enough; empty = a log in the data directory.',
  ),
  user: text().describe('NATS user.'),
  password: text().describe('Password of the NATS user, or a token if no user is set.'),
  credentialsFile: text('', 'path').describe('NATS credentials file (.creds), instead of a user.'),
  caFile: text('', 'path').describe(
    'CA certificate in PEM to trust for tls://, in addition to the system ones.',
  ),
  certFile: text('', 'path').describe('Client certificate in PEM for NATS.'),
  keyFile: text('', 'path').describe('Private key of the client certificate, in PEM.'),
  prefix: text('weir').describe(
    'Prefix of all stream, bucket and subject names at NATS; unique for each deployment there.',
  ),
  shards: integer('count', 4, 1, 256).describe(
    'Streams at NATS that batches are spread over, each drained by one writer; cannot be lowered.',
  ),
  replicas: integer('count', 3, 1, 5).describe(
    'Replicas of each stream at NATS; 1 for a single server.',
  ),
  storage: z
    .enum(['file', 'memory'])
    .default('file')
    .describe('Storage of the streams at NATS; memory loses events when its servers stop.'),
  timeoutMs: integer('ms', 5000, 100, 60_000).describe(
    'Timeout of an acknowledgement by NATS; then the sender gets 503.',
  ),
  leaseSeconds: integer('s', 10, 2, 300).describe(
    'Lease of a shard: how long it stays with a writer that does not renew it.',
  ),
  segmentBytes: integer('bytes', 64 * mebibyte, mebibyte, 4 * gibibyte).describe(
    'Segment size of the log in the data directory.',
  ),
  minFreeDiskBytes: integer('bytes', gibibyte, 0, 1024 * gibibyte).describe(
    'Free disk below which new events are refused with 503; at least two segments of the log.',
  ),
  maxBacklogBytes: integer('bytes', 0, 0, 1024 * 1024 * gibibyte).describe(
    'Backlog at which new events are refused with 503; 0 = only the disk is the limit.',
  ),
  memoryTailBytes: integer('bytes', 16 * mebibyte, 0, 64 * gibibyte).describe(
    'Newest events kept in memory for the drain; older ones are read from disk.',
  ),
  idempotencyTtlHours: integer('h', 24, 1, 168).describe(
    'How long an Idempotency-Key is remembered.',
  ),
  idempotencyKeys: integer('count', 1_000_000, 1000, 10_000_000).describe(
    'Number of Idempotency-Keys remembered; the oldest are dropped first.',
  ),
});
