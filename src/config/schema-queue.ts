/** Settings of the queue: the log on this machine's disk, or NATS JetStream for several nodes. */
import { z } from 'zod';
import { gibibyte, integer, list, mebibyte, section, text } from './schema-parts.ts';

export const queueSection = section({
  urls: list(
    'NATS servers with JetStream that all nodes share as their queue, as nats://host:4222 or ' +
      'tls://; some of a cluster are enough; empty = a log in the data folder.',
  ),
  user: text(undefined, '', 'User at NATS.'),
  password: text(undefined, '', 'Password of that user, or a token where no user is set.'),
  credentialsFile: text('path', '', 'Credentials (.creds) for NATS, in place of a user.'),
  caFile: text('path', '', 'Authority in PEM to trust for tls:// besides the usual ones.'),
  certFile: text('path', '', 'Client certificate in PEM for NATS.'),
  keyFile: text('path', '', 'Private key of that certificate in PEM.'),
  prefix: text(
    undefined,
    'weir',
    'Begins the names of all streams, buckets and subjects at NATS: one for each Weir there.',
  ),
  shards: integer(
    'count',
    4,
    1,
    256,
    'Streams at NATS that batches are spread over, each drained by one writer; never fewer later.',
  ),
  replicas: integer(
    'count',
    3,
    1,
    5,
    'Copies that NATS keeps of each stream; 1 where NATS is a single server.',
  ),
  storage: z.enum(['file', 'memory']).default('file').meta({
    description: 'Where NATS keeps them; memory loses events when its servers stop.',
  }),
  timeoutMs: integer(
    'ms',
    5000,
    100,
    60_000,
    'Longest NATS may take to acknowledge; beyond it the answer is 503.',
  ),
  leaseSeconds: integer(
    's',
    10,
    2,
    300,
    'How long a shard stays with a writer that gives no sign of life.',
  ),
  segmentBytes: integer(
    'bytes',
    64 * mebibyte,
    mebibyte,
    4 * gibibyte,
    'Size at which a new segment of the log in the data folder is begun.',
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
});
