/** Events of the store and of the engine process. */
import { type Instruments, registerMetrics } from './instruments.ts';
import { engineFrontMetrics, engineMetrics, storeMetrics } from './metrics.ts';

export type ReadKind =
  | 'list'
  | 'walk'
  | 'arrivals'
  | 'count_arrivals'
  | 'late_rows'
  | 'histogram'
  | 'facets'
  | 'fields'
  | 'field_values'
  | 'stats'
  | 'messages'
  | 'compare'
  | 'samples'
  | 'series'
  | 'label_names'
  | 'label_values'
  | 'metric_metadata'
  | 'exemplars';

interface DamagedPart {
  readonly table: string;
  readonly part: string;
  /** On the disk of the server. */
  readonly path: string;
}

const mostPartsLogged = 20;

export type StoreEvents = ReturnType<typeof createStoreEvents>;

export function createStoreEvents(instruments: Instruments) {
  const metrics = registerMetrics(instruments.metrics, storeMetrics);
  metrics.weir_store_reachable.set(1);
  return {
    ...statementEvents(instruments.log, metrics),
    ...housekeepingEvents(instruments.log, metrics),
    ...damageEvents(instruments.log, metrics),
  };
}

type Log = Instruments['log'];
type StoreMetrics = ReturnType<typeof registerMetrics<typeof storeMetrics>>;

/** A failed insert or read is a debug line: the drain or the listener logs it for operators. */
function statementEvents(log: Log, metrics: StoreMetrics) {
  return {
    inserted(insert: { rows: number; batches: number; mode: string; seconds: number }) {
      metrics.weir_store_insert_seconds.observe(insert.seconds);
      metrics.weir_store_inserted_rows_total.inc(insert.rows);
      log.debug(insert, 'inserted');
    },
    insertFailed(insert: { rows: number; failure: string; seconds: number }, error: Error) {
      metrics.weir_store_insert_failures_total.inc({ failure: insert.failure });
      log.debug({ ...insert, err: error }, 'cannot insert');
    },
    /** @param seconds that a statement of a read waited for its turn */
    readBegan: (seconds: number) => metrics.weir_store_read_wait_seconds.observe(seconds),
    read: (kind: ReadKind, seconds: number) =>
      metrics.weir_store_read_seconds.observe(seconds, { kind }),
    readFailed(kind: ReadKind, seconds: number, error: Error) {
      metrics.weir_store_read_seconds.observe(seconds, { kind });
      metrics.weir_store_read_failures_total.inc({ kind });
      log.debug({ kind, seconds, err: error }, 'cannot read');
    },
    /** Statements are held back until the server answers again. */
    storeUnreachable(cause: unknown) {
      metrics.weir_store_reachable.set(0);
      log.warn({ err: cause }, 'the store does not answer');
    },
    storeReachable() {
      metrics.weir_store_reachable.set(1);
      log.info('the store answers again');
    },
    /** Earlier inserts of the shard can no longer succeed. */
    fenced: (shard: string, seconds: number) =>
      log.info({ shard, seconds }, 'fenced the inserts of a shard'),
  };
}

function housekeepingEvents(log: Log, metrics: StoreMetrics) {
  return {
    migrated(versions: readonly number[]) {
      if (versions.length > 0) log.info({ versions }, 'store schema migrated');
    },
    dayDropped(day: string, reason: 'retention' | 'disk_cap', bytes: number) {
      metrics.weir_store_dropped_days_total.inc({ reason });
      const level = reason === 'disk_cap' ? 'warn' : 'info';
      log[level]({ day, reason, bytes }, 'dropped a day of receipt');
    },
    rowsExpired(rows: number) {
      metrics.weir_store_expired_rows_total.inc(rows);
      log.info({ rows }, 'deleted expired rows');
    },
    dayDownsampled(of: {
      readonly table: string;
      readonly day: string;
      readonly streams: number;
      readonly rows: number;
      readonly kept: number;
    }) {
      metrics.weir_store_downsampled_rows_total.inc(of.rows - of.kept);
      log.info(of, 'downsampled a day of receipt');
    },
    messagesIndexed: (rows: number, seconds: number) =>
      log.info({ rows, seconds: Math.round(seconds * 1000) / 1000 }, 'indexed messages for search'),
    rowsUnindexed: (rows: number) => metrics.weir_store_unindexed_rows.set(rows),
    housekeepingFailed(task: string, error: Error) {
      metrics.weir_store_housekeeping_failures_total.inc({ task });
      log.error({ task, err: error }, 'housekeeping failed; it will be tried again');
    },
  };
}

function damageEvents(log: Log, metrics: StoreMetrics) {
  const damagedParts = metrics.weir_store_damaged_parts;
  return {
    inventoryDamaged: (file: string) =>
      log.error({ file }, 'cannot check that no table is missing: the list of tables is damaged'),
    /** @param total parts detached now @param fresh those not reported before */
    partsDetached(total: number, fresh: readonly (DamagedPart & { reason: string })[]) {
      damagedParts.set({ state: 'detached' }, total);
      if (fresh.length === 0) return;
      const fields = { parts: fresh.slice(0, mostPartsLogged), total: fresh.length };
      log.error(fields, 'store detached damaged parts: reads lack their rows');
    },
    /** @param error with the count since the last report */
    corruptionFound(error: { name: string; count: number; message: string }) {
      metrics.weir_store_corruption_errors_total.inc(error.count);
      log.error(error, 'store found damaged data');
    },
    partDamaged: (part: DamagedPart & { message: string }) =>
      log.error(part, 'store has a part that does not match its checksums'),
    /** @param parts.due parts whose checksums are yet to be verified */
    partsScrubbed(parts: { due: number; damaged: number }) {
      damagedParts.set({ state: 'corrupt' }, parts.damaged);
      metrics.weir_store_unscrubbed_parts.set(parts.due);
    },
  };
}

export type EngineEvents = ReturnType<typeof createEngineEvents>;

export function createEngineEvents({ log, metrics: registry }: Instruments) {
  const metrics = registerMetrics(registry, engineMetrics);
  const up = metrics.weir_engine_up;
  const restarts = metrics.weir_engine_restarts_total;
  for (const cause of ['ended', 'asked']) restarts.inc({ cause }, 0);
  return {
    engineReady(pid: number, millis: number, clickhouseVersion: string) {
      up.set(1);
      log.info({ enginePid: pid, millis, clickhouseVersion }, 'engine is ready');
    },
    /** The process ended unexpectedly. */
    engineEnded(pid: number, how: string) {
      up.set(0);
      restarts.inc({ cause: 'ended' });
      log.error({ enginePid: pid, how }, 'engine ended; starting it again');
    },
    engineRestarted(pid: number | undefined, reason: string) {
      up.set(0);
      restarts.inc({ cause: 'asked' });
      log.warn({ enginePid: pid, reason }, 'killing the engine to start it again');
    },
    engineNotStarted(error: unknown, retryMillis: number) {
      metrics.weir_engine_failed_starts_total.inc();
      log.error({ err: error, retryMillis }, 'cannot start the engine; trying again');
    },
    /** @param line of standard error */
    engineWroteStderr: (line: string) => log.warn({ line }, 'engine wrote to standard error'),
    /** @param paths of parts that a full or failing disk had truncated */
    truncatedPartsRemoved(paths: readonly string[]) {
      const fields = { parts: paths.slice(0, mostPartsLogged), total: paths.length };
      log.warn(fields, 'removed truncated parts; their rows are stored again');
    },
    engineAnswered(residentBytes: number, fault: string | undefined) {
      metrics.weir_engine_resident_bytes.set(residentBytes);
      if (fault !== undefined) log.warn({ fault }, 'engine answers a trivial query with an error');
    },
    engineStopped(how: string) {
      up.set(0);
      log.info({ how }, 'engine stopped');
    },
  };
}

/**
 * - `passed`: the engine answered, possibly with an error;
 * - `denied`: wrong user or password, or a request of a browser;
 * - `away`: the engine was starting;
 * - `left`: the client disconnected before the answer;
 * - `broken`: the engine disconnected before the answer.
 */
export type EngineFrontOutcome = 'passed' | 'denied' | 'away' | 'left' | 'broken';

const frontOutcomes: readonly EngineFrontOutcome[] = ['passed', 'denied', 'away', 'left', 'broken'];

export type EngineFrontEvents = ReturnType<typeof createEngineFrontEvents>;

/** Events of the port at which the engine serves other processes. */
export function createEngineFrontEvents({ log, metrics }: Instruments) {
  const requests = registerMetrics(metrics, engineFrontMetrics).weir_engine_requests_total;
  for (const outcome of frontOutcomes) requests.inc({ outcome }, 0);
  return {
    listening: (host: string, port: number) =>
      log.info({ host, port }, 'engine serves other processes'),
    served(outcome: EngineFrontOutcome) {
      requests.inc({ outcome });
      if (outcome === 'denied') log.warn('refused a request to the engine: wrong user or password');
    },
  };
}
