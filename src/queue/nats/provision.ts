/**
 * Makes what the queue needs at JetStream, or brings it up to date. Any number of nodes may do so
 * at once.
 */
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
import { errorCodes } from './error-codes.ts';
import { messageOf } from '../../std/error-text.ts';

type Wanted = Pick<
  StreamConfig,
  'name' | 'subjects' | 'retention' | 'storage' | 'num_replicas' | 'max_bytes'
> &
  Partial<StreamConfig>;

const nanosPerMs = 1_000_000;
/** What is published again within it is stored once. */
const duplicateWindowMs = 120_000;
/** A cluster that has just been started needs a while until it can place streams. */
const patienceMs = 20_000;
const pauseMs = 250;

/**
 * Streams of the shards and of the quarantine, and the buckets `leases`, `keys` and `signals`:
 * plain KV buckets (ADR-8 of NATS), read at their leader. Leases have no TTL: their entries outlive
 * their holders, and whoever reads them decides how old is too old.
 * @throws Error in words for the operator
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

function listWanted({ names, options }: NatsLink): Wanted[] {
  const { shards, maxBacklogBytes, idempotencyTtlMs } = options;
  const shared = {
    storage: options.storage === 'file' ? StorageType.File : StorageType.Memory,
    num_replicas: options.replicas,
    discard: DiscardPolicy.New,
    duplicate_window: duplicateWindowMs * nanosPerMs,
  };
  const shard = (index: number): Wanted => ({
    ...shared,
    name: names.stream(index),
    subjects: [names.subject(index)],
    retention: RetentionPolicy.Workqueue,
    max_bytes: maxBacklogBytes === undefined ? -1 : Math.ceil(maxBacklogBytes / shards),
  });
  const bucket = (name: string, ttlMs: number): Wanted => ({
    ...shared,
    name: `KV_${name}`,
    subjects: [`$KV.${name}.>`],
    retention: RetentionPolicy.Limits,
    max_bytes: -1,
    max_age: ttlMs * nanosPerMs,
    max_msgs_per_subject: 1,
    allow_rollup_hdrs: true,
    deny_delete: true,
    // A follower may answer what is no longer true.
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
    bucket(names.keys, idempotencyTtlMs),
    bucket(names.signals, 0),
  ];
}

/** What lies in a shard that no writer takes any more would never be stored. */
async function refuseFewerShards({ manager, names, options }: NatsLink): Promise<void> {
  const prefix = names.stream(0).slice(0, -1);
  let last = -1;
  for await (const name of manager.streams.names(`${options.prefix}.queue.*`)) {
    const index = name.startsWith(prefix) ? Number(name.slice(prefix.length)) : Number.NaN;
    if (index > last) last = index;
  }
  if (last < options.shards) return;
  throw new Error(
    `cannot use ${options.shards} shards: NATS has the stream ${names.stream(last)} already; ` +
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
      // Another node was faster, with other settings.
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

/** What JetStream says no to for good, in words; anything else as it is. */
function refusal({ options }: NatsLink, { name }: Wanted, error: unknown): unknown {
  const cause = { cause: error };
  if (hasCode(error, errorCodes.replicasNotSupported)) {
    return new Error(
      `cannot keep ${options.replicas} copies of the stream ${name}: NATS is a single server; ` +
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

/** Whether it may be gone the next time. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof JetStreamApiError) {
    return error.status === 503 || error.code === errorCodes.noPeers;
  }
  return error.name === 'TimeoutError' || error.name === 'JetStreamNotEnabled';
}

function explain({ options }: NatsLink, cause: unknown): Error {
  const reason = messageOf(cause);
  return new Error(
    `cannot prepare the queue at NATS: ${reason}; JetStream must be on and have a leader, with ` +
      `servers and room for queue.replicas = ${options.replicas}`,
    { cause },
  );
}

function hasCode(error: unknown, code: number): boolean {
  return error instanceof JetStreamApiError && error.code === code;
}
