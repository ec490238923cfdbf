/**
 * The path of metrics in one process with a simulated clock, from admission to reads, without
 * listeners. A receiver's token is its id.
 */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type PassThrough, Readable } from 'node:stream';
import { compressSync, uncompressSync } from 'snappy';
import { adminRoutes } from '../../src/admin/admin.ts';
import { createAdmission } from '../../src/admission/admission.ts';
import { createMemoryQuota } from '../../src/admission/memory-quota.ts';
import type { Admission, GrantLookup } from '../../src/admission/port.ts';
import { createGrants } from '../../src/directory/grants.ts';
import { openSqliteDirectory } from '../../src/directory/sqlite.ts';
import { openDrain } from '../../src/ingest/drain.ts';
import { createIngest } from '../../src/ingest/ingest.ts';
import { createClaims } from '../../src/ingest/ingest-replay.ts';
import { createSeriesLedger } from '../../src/ingest/series-ledger.ts';
import { createMetricRoutes } from '../../src/metrics/routes.ts';
import { AppError } from '../../src/model/errors.ts';
import type { Protocol } from '../../src/model/protocol.ts';
import { digestSecret } from '../../src/codec/token-secret.ts';
import { configSchema } from '../../src/config/schema.ts';
import { createPromText } from '../../src/protocols/prom-text/prom-text.ts';
import { createRemoteWrite } from '../../src/protocols/remote-write/remote-write.ts';
import { openLocalQueue } from '../../src/queue/disk/local-queue.ts';
import { createHousekeeping, housekeepingDefaults } from '../../src/store/housekeeping.ts';
import { createDirectoryEvents } from '../../src/telemetry/node-events.ts';
import { createDrainEvents, createQueueEvents } from '../../src/telemetry/queue-events.ts';
import { createIngestEvents } from '../../src/telemetry/request-events.ts';
import { createInstruments } from '../../src/telemetry/instruments.ts';
import {
  decodeReadResponse,
  encodeReadRequest,
  encodeWriteRequest,
  type SeriesSamples,
  type WrittenSeries,
} from '../harness/prompb.ts';
import { toReadRequest } from '../harness/read-request.ts';
import { until } from '../harness/until.ts';
import { type EngineStore, openEngineStore } from '../store/engine-store.ts';

const gibibyte = 2 ** 30;
const config = configSchema.parse({
  ingest: { promTextMaxSamples: 1_000_000, remoteWriteMaxSamples: 1_000_000 },
});
export const promText = createPromText(config);
const [remoteWrite] = createRemoteWrite(config);
const caller = { tokenId: 'tok_test', accountIds: [], scopes: new Set(['operator'] as const) };
const statistics = { accepted() {}, replayed() {}, refused() {} };
const openMetrics = 'application/openmetrics-text';
/** Success status, or the error code. */
export type Outcome = number | AppError['code'];

export interface PipelineOptions {
  /** Unix ms of the simulated clock. */
  readonly nowMs: number;
  readonly maxSeriesPerAccount?: number;
}

export async function openPipeline(options: PipelineOptions): Promise<Pipeline> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-promise-'));
  const pipeline = new Pipeline(folder, await openEngineStore(), options);
  await pipeline.start();
  return pipeline;
}

export class Pipeline {
  /** Unix ms; advances only when the test does it. */
  nowMs: number;
  accountId = '';
  /** How far the clock advances once the next request is decoded, before it is queued, ms. */
  turnWhileTakenMs = 0;
  readonly engine: EngineStore;
  readonly #folder: string;
  readonly #options: PipelineOptions;
  #parts: Awaited<ReturnType<Pipeline['open']>> | undefined;

  constructor(folder: string, engine: EngineStore, options: PipelineOptions) {
    this.#folder = folder;
    this.engine = engine;
    this.#options = options;
    this.nowMs = options.nowMs;
  }

  get parts(): Awaited<ReturnType<Pipeline['open']>> {
    assert.ok(this.#parts, 'the pipeline is closed');
    return this.#parts;
  }

  async start(): Promise<void> {
    this.#parts = await this.open();
    if (this.accountId !== '') return;
    const account = { name: 'test', eventsPerSecond: null };
    this.accountId = (await this.parts.directory.createAccount(account)).accountId;
  }

  /** Restarts the gateway; the engine keeps running. */
  async restart(): Promise<void> {
    await this.#stop();
    await this.start();
  }

  async close(): Promise<void> {
    await this.#stop();
    await this.engine.close();
    await rm(this.#folder, { recursive: true });
  }

  async createStream(retentionDays = 30): Promise<string> {
    const { accountId } = this;
    const stream = { accountId, name: 'stream', retentionDays };
    const { streamId } = await this.parts.directory.createStream(stream);
    this.parts.grants.invalidate();
    return streamId;
  }

  async createReceiver(streamId: string): Promise<string> {
    const settings = { active: true, allowedCidrs: [], transform: [] };
    const { receiverId } = await this.parts.directory.createReceiver({
      ...settings,
      accountId: this.accountId,
      streamId,
      name: 'receiver',
      kind: 'prometheus',
      limits: { eventsPerSecond: null, burstEvents: null, maxBodyBytes: null },
    });
    return receiverId;
  }

  /** An operation of the control API. */
  admin(operationId: string, params: Readonly<Record<string, string>>, body?: unknown) {
    const route = this.parts.routes.find((one) => one.operationId === operationId);
    assert.ok(route, `there is no operation ${operationId}`);
    return route.handle({ caller, accountId: this.accountId, params, body });
  }

  write(receiverId: string, series: readonly WrittenSeries[]): Promise<Outcome> {
    const body = compressSync(encodeWriteRequest(series));
    return this.send(receiverId, remoteWrite, { body: Readable.from([body]) });
  }

  push(receiverId: string, text: string): Promise<Outcome> {
    return this.send(receiverId, promText, { body: Readable.from([Buffer.from(text)]) });
  }

  pushOpenMetrics(receiverId: string, text: string): Promise<Outcome> {
    const body = Readable.from([Buffer.from(text)]);
    return this.send(receiverId, promText, { body, contentType: openMetrics });
  }

  async send(
    receiverId: string,
    protocol: Protocol,
    message: { readonly body: Readable; readonly contentType?: string },
  ): Promise<Outcome> {
    const isWrite = protocol === remoteWrite;
    const contentType = isWrite ? 'application/x-protobuf' : (message.contentType ?? 'text/plain');
    const request = {
      receiverId,
      headers: {
        authorization: [`Bearer ${receiverId}`],
        activeAccount: [],
        contentType: [contentType],
        contentEncoding: isWrite ? ['snappy'] : [],
        contentLength: undefined,
        datadogKey: [],
        forwardedFor: [],
        idempotencyKey: [],
      },
      peerAddress: '127.0.0.1',
      body: {
        stream: message.body,
        expected: true,
        declaredBytes: undefined,
        arrivedWhole: () => true,
        sendContinue: undefined,
      },
    };
    try {
      return (await this.parts.ingest.ingest(request, protocol)).reply.status;
    } catch (error) {
      if (error instanceof AppError) return error.code;
      throw error;
    }
  }

  /** Resolves once all written bytes of a body are read: its head was accepted. */
  async whileReading(body: PassThrough): Promise<void> {
    const isRead = () => body.readableLength === 0;
    await until(isRead, { what: 'the body to be read', everyMs: 1 });
  }

  /** Resolves once every accepted batch is stored. */
  async settle(): Promise<void> {
    const { queue } = this.parts;
    await until(() => queue.status().batches === 0, { what: 'the drain', timeoutMs: 60_000 });
  }

  /** All stored series of a name, by remote read. */
  async read(name: string, range: Range = allTime): Promise<SeriesSamples[]> {
    await this.settle();
    const matcher = { name: '__name__', type: '=', value: name } as const;
    const message = encodeReadRequest([{ matchers: [matcher], ...range }]);
    const answer = (await this.call('readSamples', '', message)) as Uint8Array;
    return decodeReadResponse(Buffer.from(uncompressSync(Buffer.from(answer)) as Buffer))[0] ?? [];
  }

  /** Calls a read of metrics by its operation. */
  call(operationId: string, query = '', body: Uint8Array = Buffer.alloc(0)): Promise<unknown> {
    const route = this.parts.reads.find((one) => one.operationId === operationId)!;
    return route.read(toReadRequest(this.accountId, query, { body }));
  }

  async housekeep(maxDiskBytes?: number): Promise<void> {
    const { directory } = this.parts;
    const streams = () => directory.listAllStreams();
    const deletedStreams = () => directory.listDeletedStreams();
    const parts = { store: this.engine.store, streams, deletedStreams, now: () => this.nowMs };
    const housekeeping = createHousekeeping(parts, { ...housekeepingDefaults, maxDiskBytes });
    await housekeeping.dropExpiredDays();
    await housekeeping.deleteExpiredRows();
    await housekeeping.dropDaysOverCap();
  }

  async #stop(): Promise<void> {
    const { drain, queue, grants, directory } = this.parts;
    await drain.close();
    await queue.close();
    await grants.close();
    await directory.close();
    this.#parts = undefined;
  }

  async open() {
    const now = () => this.nowMs;
    const { store } = this.engine;
    const instruments = createInstruments('silent');
    const directoryEvents = createDirectoryEvents(instruments);
    const directory = await openSqliteDirectory({ file: join(this.#folder, 'directory.db') }, now);
    const grants = createGrants(directory, { staleForSeconds: 60 }, directoryEvents, now);
    const queue = await openLocalQueue(
      { directory: join(this.#folder, 'queue'), minFreeDiskBytes: 0, now },
      createQueueEvents(instruments),
    );
    const series = createSeriesLedger({ maxSeriesPerAccount: 1_000_000, ...this.#options });
    const telemetry = createDrainEvents(instruments);
    const pace = { minIntervalMs: 0, maxIntervalMs: 0, heavyRowsPerSecond: 1 };
    queue.whenSeriesForgotten(() => series.forget());
    const drain = queue.work((shard) => openDrain({ shard, queue, store, telemetry }, { pace }));
    const bodyPace = { timeoutMs: 60_000, graceMs: 60_000, minBytesPerSecond: 1 };
    const admission = createAdmission(
      { maxInFlightBytes: gibibyte, trustedProxies: [], bodyPace },
      { ...grants, token: (digest) => this.#token(digest), touch: () => {} },
      createMemoryQuota(() => performance.now()),
    );
    const turning: Admission = {
      ...admission,
      chargeEvents: (grant, count) => {
        this.nowMs += this.turnWhileTakenMs;
        this.turnWhileTakenMs = 0;
        return admission.chargeEvents(grant, count);
      },
    };
    const taking = { admission: turning, queue, claims: createClaims(queue) };
    const events = createIngestEvents(instruments, noLevels);
    const ingest = createIngest({ ...taking, series, events, statistics, now });
    const reads = createMetricRoutes({ store, grants, rules: directory, now }, config.metrics);
    const admin = { directory, grants, queue, store, telemetry: directoryEvents, ...ruleParts };
    const routes = adminRoutes(admin, { ingestUrl: 'https://in.example' }, now);
    return { directory, grants, queue, series, drain, ingest, reads, routes };
  }

  /** A token for the receiver with this id. */
  async #token(digest: string): ReturnType<GrantLookup['token']> {
    const receivers = await this.parts.directory.listReceivers(this.accountId);
    const receiver = receivers.find(({ receiverId }) => digestSecret(receiverId) === digest);
    if (receiver === undefined) return undefined;
    return {
      tokenId: 'tok_sender',
      type: 'ingest',
      accountIds: [this.accountId],
      allAccounts: false,
      receiverId: receiver.receiverId,
      scopes: new Set(['ingest:write']),
      expiresAtMs: null,
      revoked: false,
    };
  }
}

export type Range = { readonly fromMs: number; readonly untilMs: number };

const unused = undefined as never;
const ruleParts = { ruleOptions: unused, previewRules: unused, checkNotifierUrl: unused };
const noLevels = { memoryInFlight: () => 0, knownSeries: () => 0 };
const allTime: Range = { fromMs: 0, untilMs: 4_102_444_800_000 };
