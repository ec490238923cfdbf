/** Opens a server for tests: real listeners and admission over fake grants, queue and decoder. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import type { ReceiverGrant, TokenGrant } from '../../src/model/account.ts';
import { createSessions } from '../../src/admin/sessions.ts';
import { createAdmission } from '../../src/admission/admission.ts';
import {
  type ConnectionGateOptions,
  createConnectionGate,
} from '../../src/admission/connection-gate.ts';
import { createMemoryQuota } from '../../src/admission/memory-quota.ts';
import { createIngest } from '../../src/ingest/ingest.ts';
import { createClaims } from '../../src/ingest/ingest-replay.ts';
import { createSeriesLedger } from '../../src/ingest/series-ledger.ts';
import { AppError } from '../../src/model/errors.ts';
import type { Protocol } from '../../src/model/protocol.ts';
import { digestSecret } from '../../src/codec/token-secret.ts';
import type { IdempotencyRecord, RememberedAnswer } from '../../src/queue/port.ts';
import { openServer, type ServerOptions, type ServerParts } from '../../src/server/server.ts';
import { createHttpEvents, createIngestEvents } from '../../src/telemetry/request-events.ts';

export const accountId = '3f6f0c1e-8a54-4c1b-9d0e-1f2a3b4c5d6e';
export const otherAccountId = '00000000-0000-4000-8000-000000000001';
export const secret = 'wri_good';
export const readerSecret = 'wra_reader';

/** A test may change it while the server runs. */
export interface EdgeState {
  readonly tokens: Map<string, TokenGrant>;
  readonly receivers: Map<string, ReceiverGrant>;
  readonly appended: { rows: number; record: IdempotencyRecord | undefined }[];
  /** Thrown by the next look-ups or appends. */
  grantFault: AppError | undefined;
  appendFault: AppError | undefined;
  /** Appends wait for this. */
  appendGate: Promise<void>;
  /** The parts that are not ready. */
  missing: string[];
  /** Log lines at `error` and above. */
  readonly logged: string[];
}

export interface Edge {
  readonly ports: Readonly<Record<'ingest' | 'stream' | 'ops', number>>;
  readonly ca: string;
  readonly state: EdgeState;
  readonly metrics: Registry;
  close(): Promise<void>;
}

export interface EdgeOptions {
  readonly server?: Partial<ServerOptions>;
  readonly limits?: Partial<ServerOptions['limits']>;
  readonly admission?: Partial<Parameters<typeof createAdmission>[0]>;
  readonly gate?: Partial<ConnectionGateOptions>;
  readonly protocol?: Partial<Protocol>;
  readonly parts?: Partial<Pick<ServerParts, 'protocols' | 'reads' | 'tickets' | 'admin'>>;
}

export async function openEdge(options: EdgeOptions = {}): Promise<Edge> {
  const directory = await mkdtemp(join(tmpdir(), 'weir-edge-'));
  const state = createState();
  const log = pino({ level: 'error' }, { write: (line: string) => void state.logged.push(line) });
  const metrics = new Registry();
  const grants = {
    token: async (digest: string) => {
      if (state.grantFault !== undefined) throw state.grantFault;
      return state.tokens.get(digest);
    },
    receiver: async (receiverId: string) => state.receivers.get(receiverId),
    touch: () => {},
  };
  const admission = createAdmission(
    {
      maxInFlightBytes: 64 * 1024 * 1024,
      trustedProxies: [],
      bodyPace: { timeoutMs: 10_000, graceMs: 5000, minBytesPerSecond: 1 },
      ...options.admission,
    },
    grants,
    createMemoryQuota(() => performance.now()),
  );
  const gate = createConnectionGate(
    {
      maxConnectionsPerAddress: 1000,
      newConnectionsPerSecond: 1000,
      trustedProxies: [],
      ...options.gate,
    },
    () => performance.now(),
  );
  const ingestEvents = createIngestEvents(
    { log, metrics },
    { memoryInFlight: admission.memoryInFlight, knownSeries: () => 0 },
  );
  const queue = fakeQueue(state);
  const ingest = createIngest({
    admission,
    queue,
    claims: createClaims(queue),
    series: createSeriesLedger({ maxSeriesPerAccount: 1000 }),
    events: ingestEvents,
    statistics: { accepted() {}, replayed() {}, refused() {} },
    now: Date.now,
  });
  const info = { version: '0.0.0', serverUrl: 'https://localhost' };
  const server = await openServer(
    {
      ingest: { host: '127.0.0.1', port: 0 },
      stream: { host: '127.0.0.1', port: 0 },
      ops: { host: '127.0.0.1', port: 0 },
      maxConnections: 1000,
      limits: {
        headersTimeoutMs: 10_000,
        idleTimeoutMs: 60_000,
        keepAliveTimeoutMs: 5000,
        maxStreamsPerConnection: 100,
        ...options.limits,
      },
      tls: { certFile: undefined, keyFile: undefined, directory, checkEveryMs: 60_000 },
      explorerDirectory: join(directory, 'explorer'),
      closing: { noticeMs: 0, graceMs: 1000 },
      ...options.server,
    },
    {
      admission,
      ingest,
      ingestEvents,
      protocols: toProtocols({ ...lineProtocol, ...options.protocol }),
      reads: [],
      tickets: [],
      admin: [],
      ingestInfo: info,
      streamInfo: info,
      missing: async () => state.missing,
      metrics,
      gate,
      sessions: createSessions(noSessions, { maxMs: 1000, idleMs: 1000 }),
      ...options.parts,
    },
    createHttpEvents({ log, metrics }),
  );
  return {
    ports: server.ports,
    ca: await readFile(join(directory, 'ca.pem'), 'utf8'),
    state,
    metrics,
    close: async () => {
      await server.close();
      await rm(directory, { recursive: true });
    },
  };
}

/** A test protocol: one event per line; the body `bad` is malformed. */
export const lineProtocol: Protocol = {
  name: 'json_logs',
  kind: 'http_json',
  http: undefined,
  mediaTypes: [{ name: 'application/json' }],
  codings: ['identity'],
  maxBodyBytes: 1000,
  limits: { maxEvents: 100, maxDepth: 10, maxRejections: 10 },
  heapBytesPerBodyByte: 2,
  decode(body) {
    const text = body.toString();
    if (text === 'bad') throw new AppError('malformed', 'cannot decode this');
    if (text === 'bug') throw new TypeError('secret internals');
    const rows = text.length === 0 ? 0 : text.split('\n').length;
    return {
      layout: 'logs/1',
      rows,
      payload: body,
      rejected: [],
      rejectedCount: 0,
      rejectedByReason: new Map(),
    };
  },
  reply: ({ rows }) => ({
    status: 202,
    contentType: 'application/json',
    body: `{"accepted":${rows}}`,
  }),
};

/** The protocol under test, over HTTP and gRPC. */
function toProtocols(lines: Protocol): Protocol[] {
  const description = { operationId: '', summary: '', details: '', request: {}, answers: {} };
  const grpcMethod = 'opentelemetry.proto.collector.logs.v1.LogsService/Export';
  return [{ ...lines, http: { path: 'logs', prefix: 'otlp', description }, grpcMethod }];
}

function createState(): EdgeState {
  const state: EdgeState = {
    tokens: new Map(),
    receivers: new Map(),
    appended: [],
    grantFault: undefined,
    appendFault: undefined,
    appendGate: Promise.resolve(),
    missing: [],
    logged: [],
  };
  addReceiver(state, 'rcv_a', {});
  addToken(state, secret, {});
  addToken(state, readerSecret, {
    type: 'access',
    receiverId: null,
    scopes: new Set(['logs:read', 'admin']),
  });
  return state;
}

export function addToken(state: EdgeState, text: string, change: Partial<TokenGrant>): void {
  state.tokens.set(digestSecret(text), {
    tokenId: `tok_${text}`,
    type: 'ingest',
    accountIds: [accountId],
    allAccounts: false,
    receiverId: 'rcv_a',
    scopes: new Set(['ingest:write']),
    expiresAtMs: null,
    revoked: false,
    ...change,
  });
}

export function addReceiver(
  state: EdgeState,
  receiverId: string,
  change: Partial<ReceiverGrant['receiver']> & { accountEventsPerSecond?: number | null },
): void {
  const { accountEventsPerSecond = null, ...fields } = change;
  const receiver = {
    receiverId,
    accountId,
    streamId: 'b1946ac9-2492-4d23-8f1a-0a7c3d5e6f70',
    name: receiverId,
    kind: 'http_json' as const,
    active: true,
    allowedCidrs: [],
    limits: { eventsPerSecond: null, burstEvents: null, maxBodyBytes: null },
    transform: [],
    createdAt: '2026-01-01T00:00:00.000Z',
    ...fields,
  };
  state.receivers.set(receiverId, { receiver, accountEventsPerSecond });
}

const noSessions: Parameters<typeof createSessions>[0] = {
  findToken: async () => undefined,
  deleteToken: async () => false,
  createSession: async () => [],
  useSession: async () => undefined,
  endSession: async () => [],
  endSessionsOf: async () => [],
  keepSignInLink: async () => undefined,
  takeSignInLink: async () => undefined,
};

function fakeQueue(state: EdgeState) {
  const remembered = new Map<string, RememberedAnswer>();
  const nameOf = (key: Uint8Array) => Buffer.from(key).toString('hex');
  return {
    async append(batch: { rows: number }, _owner: unknown, record?: IdempotencyRecord) {
      await state.appendGate;
      if (state.appendFault !== undefined) throw state.appendFault;
      state.appended.push({ rows: batch.rows, record });
      if (record !== undefined) remembered.set(nameOf(record.key), record);
      return {};
    },
    recall: async (key: Uint8Array) => remembered.get(nameOf(key)),
  };
}
