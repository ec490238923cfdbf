/** Turns the configuration into what each part wants to be told. Plain values; it opens nothing. */
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Addresses } from '../admin/quickstart.ts';
import type { AdmissionOptions } from '../admission/admission.ts';
import type { ConnectionGateOptions } from '../admission/connection-gate.ts';
import type { RedisQuotaOptions } from '../admission/redis-quota.ts';
import { rolesOf } from '../config/roles.ts';
import type { Config } from '../config/schema.ts';
import { defaultGrantsOptions, type GrantsOptions } from '../directory/grants.ts';
import type { EngineFrontOptions } from '../engine/front.ts';
import { engineDefaults, type EngineOptions } from '../engine/options.ts';
import type { Engine } from '../engine/supervisor.ts';
import type { DrainOptions } from '../ingest/drain.ts';
import {
  receiverStatisticsDefaults,
  type ReceiverStatisticsOptions,
} from '../ingest/receiver-statistics.ts';
import type { DiskQueueOptions } from '../queue/disk/open-disk-queue.ts';
import type { NatsQueueOptions } from '../queue/nats/nats-options.ts';
import { defaultMetricsLimits } from '../metrics/metrics-reader.ts';
import type { MetricsLimits } from '../metrics/plan.ts';
import type { PortOptions } from '../server/bound-surfaces.ts';
import type { Server, ServerOptions } from '../server/server.ts';
import type { ClickHouseStoreOptions } from '../store/clickhouse.ts';
import type { TailOptions } from '../stream/tail.ts';
import { housekeepingDefaults, type HousekeepingOptions } from '../store/housekeeping.ts';
import type { ExportOptions } from '../stream/exporter.ts';

const hourMs = 60 * 60 * 1000;

export function toGrantsOptions(config: Config): GrantsOptions {
  return { ...defaultGrantsOptions, staleForSeconds: config.directory.staleForSeconds };
}

export function toStatisticsOptions({ statistics }: Config): ReceiverStatisticsOptions {
  const { retentionDays, flushSeconds } = statistics;
  return { ...receiverStatisticsDefaults, retentionDays, flushEveryMs: flushSeconds * 1000 };
}

export function toQueueOptions({ queue, data }: Config): DiskQueueOptions {
  return {
    directory: join(resolve(data), 'queue'),
    segmentBytes: queue.segmentBytes,
    minFreeDiskBytes: queue.minFreeDiskBytes,
    maxBacklogBytes: queue.maxBacklogBytes === 0 ? Number.MAX_SAFE_INTEGER : queue.maxBacklogBytes,
    idempotencyTtlMs: queue.idempotencyTtlHours * hourMs,
    idempotencyKeys: queue.idempotencyKeys,
    memoryTailBytes: queue.memoryTailBytes,
  };
}

/** Undefined where the queue is a log in the data folder. */
export function toNatsQueueOptions({ queue }: Config): NatsQueueOptions | undefined {
  if (queue.urls.length === 0) return undefined;
  const { urls, prefix, shards, replicas, storage, timeoutMs } = queue;
  return {
    urls,
    user: queue.user || undefined,
    password: queue.password || undefined,
    credentialsFile: queue.credentialsFile || undefined,
    caFile: queue.caFile || undefined,
    certFile: queue.certFile || undefined,
    keyFile: queue.keyFile || undefined,
    prefix,
    shards,
    replicas,
    storage,
    timeoutMs,
    leaseMs: queue.leaseSeconds * 1000,
    maxBacklogBytes: queue.maxBacklogBytes || undefined,
    idempotencyTtlMs: queue.idempotencyTtlHours * hourMs,
  };
}

export function toEngineOptions({ engine, store, data }: Config): EngineOptions {
  return {
    dataDir: join(resolve(data), 'engine'),
    memoryBytes: engine.memoryBytes,
    threads: engine.threads === 0 ? availableParallelism() : engine.threads,
    maxExecutionSeconds: store.queryTimeoutSeconds,
    readMembers: toConcurrentReads({ store }, true),
  };
}

/** On a machine of our own as many as fit into its memory; a server has more of both. */
function toConcurrentReads({ store }: Pick<Config, 'store'>, isEngine: boolean): number {
  return store.maxConcurrentReads || (isEngine ? engineDefaults.readMembers : 32);
}

export function toFrontOptions({ engine, store }: Config): EngineFrontOptions {
  return { host: engine.host, port: engine.port, user: store.user, password: store.password };
}

/**
 * @param engine undefined where a ClickHouse server takes its place.
 * @throws Error when the file of authorities cannot be read
 */
export function toStoreOptions(
  { store, queue, data }: Config,
  engine: Pick<Engine, 'socketPath' | 'restart'> | undefined,
): ClickHouseStoreOptions {
  const { coldVolume, coldAfterDays } = store;
  const isAlone = engine !== undefined && queue.urls.length === 0;
  return {
    url: engine === undefined ? store.url : undefined,
    socketPath: engine?.socketPath,
    user: store.user,
    password: store.password,
    ca: store.caFile === '' ? undefined : [readFileSync(store.caFile, 'utf8')],
    database: store.database,
    cluster: engine === undefined && store.cluster !== '' ? store.cluster : undefined,
    insertQuorum: store.insertQuorum,
    storagePolicy: store.storagePolicy || undefined,
    cold: coldVolume === '' ? undefined : { volume: coldVolume, afterDays: coldAfterDays },
    readTimeoutMs: (store.queryTimeoutSeconds + 5) * 1000,
    insertTimeoutMs: 120_000,
    housekeepingTimeoutMs: hourMs,
    maxConcurrentReads: toConcurrentReads({ store }, engine !== undefined),
    limits: {
      maxSeconds: store.queryTimeoutSeconds,
      maxMemoryBytes: store.queryMemoryBytes,
      maxRowsRead: 10_000_000_000,
      maxRowsReturned: 1_000_000,
    },
    restart: isAlone ? () => engine.restart('an insert got no answer') : undefined,
    inventoryFile: engine && join(resolve(data), 'engine', 'tables.json'),
  };
}

export function toHousekeepingOptions({ store }: Config): HousekeepingOptions {
  return {
    ...housekeepingDefaults,
    maxDiskBytes: store.maxDiskBytes === 0 ? undefined : store.maxDiskBytes,
    scrubEveryMs: store.scrubDays * 24 * hourMs,
  };
}

export function toDrainOptions({ drain, queue }: Config): Partial<DrainOptions> {
  const drains = queue.urls.length === 0 ? 1 : queue.shards;
  return { maxRows: drain.maxRows, maxBytes: drain.maxBytes, drains };
}

export function toGateOptions({ ingest }: Config): ConnectionGateOptions {
  const { maxConnectionsPerAddress, newConnectionsPerSecond, trustedProxies } = ingest;
  return { maxConnectionsPerAddress, newConnectionsPerSecond, trustedProxies };
}

export function toAdmissionOptions({ ingest }: Config): AdmissionOptions {
  return {
    maxInFlightBytes: ingest.maxInFlightBytes,
    trustedProxies: ingest.trustedProxies,
    bodyPace: {
      timeoutMs: ingest.bodyTimeoutMs,
      graceMs: 10_000,
      minBytesPerSecond: ingest.minBodyBytesPerSecond,
    },
  };
}

/**
 * Undefined where each gateway counts for itself.
 * @throws Error when the file of authorities cannot be read
 */
export function toRedisQuotaOptions({ quota }: Config): RedisQuotaOptions | undefined {
  if (quota.urls.length === 0) return undefined;
  return {
    urls: quota.urls,
    topology: quota.topology,
    user: quota.user || undefined,
    password: quota.password || undefined,
    ca: quota.caFile === '' ? undefined : readFileSync(quota.caFile, 'utf8'),
    timeoutMs: quota.timeoutMs,
  };
}

export function toMetricsLimits({ metrics }: Config): MetricsLimits {
  const { maxReadSeries, maxReadSamples } = metrics;
  return { ...defaultMetricsLimits, maxReadSeries, maxReadSamples };
}

export function toExportOptions({ stream }: Config): ExportOptions {
  return { maxExports: stream.maxExports, recheckEveryMs: 5_000 };
}

export function toTailOptions({ stream }: Config): Partial<TailOptions> {
  return { maxTails: stream.maxTails, heartbeatMs: stream.tailHeartbeatMs };
}

export function toServerOptions(config: Config): ServerOptions & { readonly ops: PortOptions } {
  const { ingest, stream, ops, tls } = config;
  const roles = rolesOf(config);
  const takesEvents = roles.has('gateway') && config.workers === 1;
  return {
    ingest: takesEvents ? { host: ingest.host, port: ingest.port } : undefined,
    stream: roles.has('stream') ? { host: stream.host, port: stream.port } : undefined,
    ops: { host: ops.host, port: ops.port },
    maxConnections: ingest.maxConnections,
    limits: {
      headersTimeoutMs: ingest.headersTimeoutMs,
      requestTimeoutMs: ingest.bodyTimeoutMs + ingest.headersTimeoutMs + 10_000,
      idleTimeoutMs: 60_000,
      keepAliveTimeoutMs: 60_000,
      maxStreamsPerConnection: ingest.maxStreamsPerConnection,
    },
    tls: {
      certFile: tls.certFile === '' ? undefined : tls.certFile,
      keyFile: tls.keyFile === '' ? undefined : tls.keyFile,
      directory: join(resolve(config.data), 'tls'),
      checkEveryMs: 5000,
    },
    explorerDirectory: fileURLToPath(new URL('../../ui/dist', import.meta.url)),
    closing: { noticeMs: 100, graceMs: 10_000 },
  };
}

/** What OpenAPI documents say of the service as it runs. */
export function toDocumentInfo(version: string, addresses: Addresses) {
  return {
    ingestInfo: {
      version,
      get serverUrl() {
        return addresses.ingestUrl;
      },
    },
    streamInfo: {
      version,
      get serverUrl() {
        return addresses.streamUrl;
      },
    },
  };
}

/**
 * Ports that the system chooses are known only once they are bound: settle before the first use.
 */
export interface RunAddresses extends Addresses {
  settle(server: Pick<Server, 'ports' | 'caFile'>): void;
}

/** Where this run answers, or where those answer that have the other roles. */
export function toAddresses(config: Config): RunAddresses {
  const { ingest, stream, ops } = config;
  const elsewhere = toPortsElsewhere(config);
  let bound: Pick<Server, 'ports' | 'caFile'> = {
    ports: { ingest: ingest.port, stream: stream.port, ops: ops.port },
    caFile: undefined,
  };
  return {
    get ingestUrl() {
      return ingest.publicUrl || `https://localhost:${bound.ports.ingest || ingest.port}`;
    },
    get streamUrl() {
      return stream.publicUrl || `https://localhost:${bound.ports.stream || stream.port}`;
    },
    get opsUrl() {
      return `http://${ops.host || '127.0.0.1'}:${bound.ports.ops}`;
    },
    get caFile() {
      return bound.caFile;
    },
    ...(elsewhere.length > 0 && { elsewhere }),
    settle(server) {
      bound = server;
    },
  };
}

function toPortsElsewhere(config: Config): ('ingest' | 'stream')[] {
  const roles = rolesOf(config);
  return [
    ...(roles.has('gateway') || config.ingest.publicUrl !== '' ? [] : ['ingest' as const]),
    ...(roles.has('stream') || config.stream.publicUrl !== '' ? [] : ['stream' as const]),
  ];
}
