/** Creates or updates the streams and buckets of the queue. Several nodes may do so at once. */
import {
  DiscardPolicy,
  JetStreamApiError,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
} from '@nats-io/jetstream';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { NatsEvents } from '../../telemetry/queue-events.ts';
import type { NatsLink } from './connection.ts';
import { errorCodes, hasCode } from './faults.ts';
import { messageOf } from '../../std/error-text.ts';

type Wanted = Pick<
  StreamConfig,
  'name' | 'subjects' | 'retention' | 'storage' | 'num_replicas' | 'max_bytes'
> &
  Partial<StreamConfig>;

const nanosPerHour = 3_600_000_000_000;
const duplicateWindowNanos = 120_000_000_000;
/** A cluster that has just started cannot place streams at once. */
const provisionTimeoutMs = 20_000;
const pauseMs = 250;

/**
 * Streams of the shards and of the quarantine, and the KV buckets `leases`, `keys` and `signals`.
 * Leases have no TTL: readers decide when one has expired.
 * @throws Error for the operator
 */
export async function provision(link: NatsLink, telemetry: NatsEvents): Promise<void> {
  const deadline = performance.now() + provisionTimeoutMs;
  for (;;) {
    try {
      await refuseFewerShards(link);
      for (const wanted of listWanted(link)) await ensureStream(link, wanted, telemetry);
      return;
    } catch (cause) {
      if (!isTransient(cause)) throw cause;
      if (performance.now() > deadline) throw explain(link, cause);
      telemetry.notProvisionedYet(cause);
      await sleep(pauseMs);
    }
  }
}

function listWanted({ names, settings }: NatsLink): Wanted[] {
  const { shards, maxBacklogBytes } = settings;
  const shared = {
    storage: settings.storage === 'file' ? StorageType.File : StorageType.Memory,
    num_replicas: settings.replicas,
    discard: DiscardPolicy.New,
    duplicate_window: duplicateWindowNanos,
  };
  const shard = (index: number): Wanted => ({
    ...shared,
    name: names.stream(index),
    subjects: [names.subject(index)],
    retention: RetentionPolicy.Workqueue,
    max_bytes: maxBacklogBytes === 0 ? -1 : Math.ceil(maxBacklogBytes / shards),
  });
  const bucket = (name: string, ttlHours: number): Wanted => ({
    ...shared,
    name: `KV_${name}`,
    subjects: [`$KV.${name}.>`],
    retention: RetentionPolicy.Limits,
    max_bytes: -1,
    max_age: ttlHours * nanosPerHour,
    max_msgs_per_subject: 1,
    allow_rollup_hdrs: true,
    deny_delete: true,
    // Followers may return stale entries.
    allow_direct: false,
  });
  return [
    ...Array.from({ length: shards }, (_, index) => shard(index)),
    {
      ...shared,
      name: names.quarantineStream,
      subjects: [names.quarantineSubject],
      retention: RetentionPolicy.Limits,
      max_bytes: -1,
    },
    bucket(names.leases, 0),
    bucket(names.keys, settings.idempotencyTtlHours),
    bucket(names.signals, 0),
  ];
}

/** Batches in shards beyond the number would never be drained. */
async function refuseFewerShards({ manager, names, settings }: NatsLink): Promise<void> {
  const prefix = names.stream(0).slice(0, -1);
  let last = -1;
  for await (const name of manager.streams.names(`${settings.prefix}.queue.*`)) {
    const index = name.startsWith(prefix) ? Number(name.slice(prefix.length)) : Number.NaN;
    if (index > last) last = index;
  }
  if (last < settings.shards) return;
  throw new Error(
    `cannot use ${settings.shards} shards: NATS has the stream ${names.stream(last)} already; ` +
      `set queue.shards to at least ${last + 1}`,
  );
}

async function ensureStream(link: NatsLink, wanted: Wanted, telemetry: NatsEvents): Promise<void> {
  const { streams } = link.manager;
  const { name } = wanted;
  let found: StreamConfig | undefined;
  try {
    found = await findStream(link, name);
    if (found === undefined) {
      await streams.add(wanted);
      telemetry.provisioned({ what: 'made', name });
    } else if (!isDeepStrictEqual({ ...found, ...wanted }, found)) {
      refuseForeign(found, wanted);
      await streams.update(name, wanted);
      telemetry.provisioned({ what: 'changed', name });
    }
  } catch (error) {
    if (found === undefined && (await wasMadeMeanwhile(link, name, error))) {
      return ensureStream(link, wanted, telemetry);
    }
    throw refusal(link, wanted, error);
  }
}

/**
 * Whether another node made the stream meanwhile: the server says that the name is taken with other
 * settings, or, if both came at the same moment, that the subjects overlap with a stream: this one.
 */
async function wasMadeMeanwhile(link: NatsLink, name: string, error: unknown): Promise<boolean> {
  if (hasCode(error, errorCodes.nameInUse)) return true;
  return hasCode(error, errorCodes.subjectOverlap) && (await findStream(link, name)) !== undefined;
}

async function findStream(link: NatsLink, name: string): Promise<StreamConfig | undefined> {
  try {
    return (await link.manager.streams.info(name)).config;
  } catch (error) {
    if (hasCode(error, errorCodes.streamNotFound)) return undefined;
    throw error;
  }
}

function refuseForeign(found: StreamConfig, wanted: Wanted): void {
  if (found.storage !== wanted.storage) {
    throw new Error(
      `cannot keep the stream ${wanted.name} in ${wanted.storage}: it was made with storage ` +
        `${found.storage}; set queue.storage to that, or choose another queue.prefix`,
    );
  }
  if (found.retention === wanted.retention) return;
  throw new Error(
    `cannot use the stream ${wanted.name}, which has retention ${found.retention} in place of ` +
      `${wanted.retention}; choose another queue.prefix`,
  );
}

/** Explains errors that the operator has to resolve; returns any other as it is. */
function refusal({ settings }: NatsLink, { name }: Wanted, error: unknown): unknown {
  const cause = { cause: error };
  if (hasCode(error, errorCodes.replicasNotSupported)) {
    return new Error(
      `cannot keep ${settings.replicas} copies of the stream ${name}: NATS is a single server; ` +
        'set queue.replicas to 1, or run NATS as a cluster',
      cause,
    );
  }
  if (hasCode(error, errorCodes.subjectOverlap)) {
    return new Error(
      `cannot make the stream ${name}: another has its subjects; choose another queue.prefix`,
      cause,
    );
  }
  if (!(error instanceof JetStreamApiError) || isTransient(error)) return error;
  return new Error(`cannot make or change the stream ${name} at NATS: ${error.message}`, cause);
}

function isTransient(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof JetStreamApiError) {
    return error.status === 503 || error.code === errorCodes.noPeers;
  }
  return error.name === 'TimeoutError' || error.name === 'JetStreamNotEnabled';
}

function explain({ settings }: NatsLink, cause: unknown): Error {
  const reason = messageOf(cause);
  return new Error(
    `cannot prepare the queue at NATS: ${reason}; JetStream must be on and have a leader, with ` +
      `servers and room for queue.replicas = ${settings.replicas}`,
    { cause },
  );
}
