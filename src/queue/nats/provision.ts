/** Creates or updates the streams and buckets of the queue. Several nodes may do so at once. */
import {
  DiscardPolicy,
  JetStreamApiError,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
  type StreamInfo,
} from '@nats-io/jetstream';
import { setTimeout as sleep } from 'node:timers/promises';
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
const patienceMs = 20_000;
const pauseMs = 250;

/**
 * Streams of the shards and of the quarantine, and the KV buckets `leases`, `keys` and `signals`.
 * Leases have no TTL: readers decide when one has expired.
 * @throws Error for the operator
 */
export async function provision(link: NatsLink, telemetry: NatsEvents): Promise<void> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    try {
      await provisionOnce(link, telemetry);
      return;
    } catch (cause) {
      if (!isPassing(cause)) throw cause;
      if (performance.now() > deadline) throw explain(link, cause);
      telemetry.notProvisionedYet(cause);
      await sleep(pauseMs);
    }
  }
}

async function provisionOnce(link: NatsLink, telemetry: NatsEvents): Promise<void> {
  await refuseFewerShards(link);
  for (const wanted of listWanted(link)) await ensureStream(link, wanted, telemetry);
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
    // Followers may answer with stale entries.
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
  let found = await findStream(link, wanted.name);
  if (found === undefined) {
    try {
      await streams.add(wanted);
      telemetry.provisioned({ what: 'made', name: wanted.name });
      return;
    } catch (error) {
      // Another node created it, with other settings.
      if (!hasCode(error, errorCodes.nameInUse)) throw refusal(link, wanted, error);
      found = await streams.info(wanted.name);
    }
  }
  refuseForeign(found, wanted);
  if (isUpToDate(found, wanted)) return;
  try {
    await streams.update(wanted.name, wanted);
    telemetry.provisioned({ what: 'changed', name: wanted.name });
  } catch (error) {
    throw refusal(link, wanted, error);
  }
}

async function findStream(link: NatsLink, name: string): Promise<StreamInfo | undefined> {
  try {
    return await link.manager.streams.info(name);
  } catch (error) {
    if (hasCode(error, errorCodes.streamNotFound)) return undefined;
    throw error;
  }
}

function refuseForeign({ config }: StreamInfo, wanted: Wanted): void {
  if (config.storage !== wanted.storage) {
    throw new Error(
      `cannot keep the stream ${wanted.name} in ${wanted.storage}: it was made with storage ` +
        `${config.storage}; set queue.storage to that, or choose another queue.prefix`,
    );
  }
  if (config.retention === wanted.retention) return;
  throw new Error(
    `cannot use the stream ${wanted.name}, which has retention ${config.retention} in place of ` +
      `${wanted.retention}; choose another queue.prefix`,
  );
}

function isUpToDate({ config }: StreamInfo, wanted: Wanted): boolean {
  const { max_age = 0, max_msgs_per_subject = -1 } = wanted;
  return (
    config.num_replicas === wanted.num_replicas &&
    config.max_bytes === wanted.max_bytes &&
    config.max_age === max_age &&
    config.max_msgs_per_subject === max_msgs_per_subject &&
    config.discard === wanted.discard &&
    config.duplicate_window === wanted.duplicate_window &&
    config.subjects.join() === wanted.subjects.join()
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
      `cannot make the stream ${name}: another one takes its subjects; choose another queue.prefix`,
      cause,
    );
  }
  if (!(error instanceof JetStreamApiError) || isPassing(error)) return error;
  return new Error(`cannot make or change the stream ${name} at NATS: ${error.message}`, cause);
}

function isPassing(error: unknown): boolean {
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
