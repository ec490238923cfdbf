/**
 * OTLP logs over gRPC against the real process, with the stock client, and with plain HTTP/2 for
 * requests that it would not send (https://opentelemetry.io/docs/specs/otlp/#otlpgrpc).
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import http2 from 'node:http2';
import { after, before, suite, test } from 'node:test';
import {
  type CallOptions,
  Client,
  type ClientUnaryCall,
  compressionAlgorithms,
  credentials,
  Metadata,
  status,
} from '@grpc/grpc-js';
import { createIngestToken } from '../harness/control.ts';
import { isScaledSet, startService, type Service } from '../harness/service.ts';
import { until } from '../harness/until.ts';
import { readRpcStatus, type RpcDetail } from '../protocols/google-rpc.ts';
import { encodeLogsRequest } from '../protocols/otlp-proto.ts';
import { openQuota, protobuf } from './otlp-exchange.ts';

const exportPath = '/opentelemetry.proto.collector.logs.v1.LogsService/Export';
const limits = { body: 4096, protobuf: 8192 };

let service: Service;
let client: Client;
let gzipClient: Client;
before(async () => {
  const flags = {
    '--ingest-otlp-max-body-bytes': limits.body,
    '--ingest-otlp-max-protobuf-bytes': limits.protobuf,
    '--queue-max-backlog-bytes': 500_000,
  };
  service = await startService({
    flags: Object.entries(flags).flat().map(String),
    // Errors of NATS, which is full.
    expectedErrors: [
      /queue refuses .*maximum bytes exceeded|maximum bytes exceeded.*queue refuses/,
    ],
  });
  client = openClient(compressionAlgorithms.identity);
  gzipClient = openClient(compressionAlgorithms.gzip);
});
after(async () => {
  client.close();
  gzipClient.close();
  await service.stop();
});

function openClient(compression: compressionAlgorithms): Client {
  const { caFile, receivers } = service.quickstart;
  return new Client(receivers.otlp.grpc, credentials.createSsl(readFileSync(caFile)), {
    'grpc.enable_retries': 0,
    'grpc.default_compression_algorithm': compression,
    'grpc.use_local_subchannel_pool': 1,
  });
}

interface Call {
  readonly path?: string;
  readonly message?: Buffer;
  /** Null = none; default: the first run's. */
  readonly token?: string | null;
  readonly options?: CallOptions;
  readonly through?: Client;
  readonly onCall?: (call: ClientUnaryCall) => void;
}

interface Outcome {
  readonly code: number;
  readonly message: string;
  readonly details: readonly RpcDetail[];
  readonly response: Buffer | undefined;
}

function call({
  path = exportPath,
  token,
  through = client,
  ...more
}: Call = {}): Promise<Outcome> {
  const { message = protobuf.body, options = {}, onCall } = more;
  const metadata = new Metadata();
  const secret = token === undefined ? service.quickstart.receivers.otlp.token : token;
  if (secret !== null) metadata.set('authorization', `Bearer ${secret}`);
  const same = (bytes: Buffer) => bytes;
  return new Promise((resolve) => {
    const made = through.makeUnaryRequest(
      path,
      same,
      same,
      message,
      metadata,
      options,
      (error, response) => {
        const [bytes] = error?.metadata.get('grpc-status-details-bin') ?? [];
        const details = bytes === undefined ? [] : readRpcStatus(Buffer.from(bytes)).details;
        resolve({
          code: error?.code ?? status.OK,
          message: error?.details ?? '',
          details,
          response,
        });
      },
    );
    onCall?.(made);
  });
}

async function assertCode(code: status, change: Call): Promise<Outcome> {
  const outcome = await call(change);
  assert.equal(status[outcome.code], status[code], outcome.message);
  return outcome;
}

/** Incompressible. */
const noise = randomBytes(limits.body + 997);

/** An unknown field of this size. */
function unknownField(bytes: number): Buffer {
  const head = [0x7a, ((bytes - 3) & 127) | 128, (bytes - 3) >> 7];
  return Buffer.concat([Buffer.from(head), Buffer.alloc(bytes - 3)]);
}

suite('success', () => {
  test('is an empty message, also for gzip and for an empty request', async () => {
    for (const change of [{}, { message: Buffer.alloc(0) }, { through: gzipClient }]) {
      const { response } = await assertCode(status.OK, change);
      assert.equal(response?.length, 0);
    }
  });

  test('with a warning is a partial success', async () => {
    const logRecords = [{ timeUnixNano: '1700000000' }];
    const message = encodeLogsRequest({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] });
    const { response } = await assertCode(status.OK, { message });
    assert.match(String(response), /accepted with changes: time not in nanoseconds/);
  });
});

suite('tokens', () => {
  test('missing, unknown, revoked or of the wrong type: UNAUTHENTICATED', async () => {
    const { accessToken, receivers } = service.quickstart;
    const revoked = await createIngestToken(service, receivers.otlp.receiverId);
    const answer = await service.admin('POST', `/tokens/${revoked.tokenId}/revoke`);
    assert.equal(answer.status, 200, answer.text);
    for (const token of [null, '', 'wri_unknown', accessToken]) {
      await assertCode(status.UNAUTHENTICATED, { token });
    }
    const isRefused = async () => (await call(revoked)).code === status.UNAUTHENTICATED;
    await until(isRefused, { what: 'the revocation to take effect' });
  });

  test('of receivers of other kinds: PERMISSION_DENIED', async () => {
    const { http_json: jsonLogs, prometheus } = service.quickstart.receivers;
    for (const { token } of [jsonLogs, prometheus]) {
      const { message } = await assertCode(status.PERMISSION_DENIED, { token });
      assert.match(message, /the receiver is of kind (http_json|prometheus), the route of otlp/);
    }
  });

  test('sent twice: UNAUTHENTICATED', async () => {
    const { token } = service.quickstart.receivers.otlp;
    const answer = await callRaw(
      ['authorization', `Bearer ${token}`],
      ['authorization', 'Bearer x'],
    );
    assert.equal(answer['grpc-status'], String(status.UNAUTHENTICATED));
    assert.match(String(answer['grpc-message']), /two Authorization headers/);
  });
});

suite('messages', () => {
  test('malformed: INVALID_ARGUMENT with BadRequest', async () => {
    const message = Buffer.from([0x0a, 0x7f, 0x01]);
    const { details } = await assertCode(status.INVALID_ARGUMENT, { message });
    assert.deepEqual(
      details.map(({ type }) => type),
      ['google.rpc.BadRequest'],
    );
  });

  test('over the limit: RESOURCE_EXHAUSTED without RetryInfo', async () => {
    const incompressible = Buffer.concat([unknownField(limits.body + 1000).subarray(0, 3), noise]);
    for (const [message, through] of [
      [unknownField(limits.protobuf + 1), client],
      [unknownField(limits.protobuf + 1), gzipClient],
      [incompressible, gzipClient],
    ] as const) {
      const { details } = await assertCode(status.RESOURCE_EXHAUSTED, { message, through });
      assert.deepEqual(details, []);
    }
    for (const through of [client, gzipClient]) {
      await assertCode(status.OK, { message: unknownField(limits.protobuf), through });
    }
  });

  test('over a quota: RESOURCE_EXHAUSTED with RetryInfo', async () => {
    const { token } = await openQuota(service, 1);
    const logRecords = Array.from({ length: 60 }, () => ({}));
    const message = encodeLogsRequest({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] });
    await assertCode(status.OK, { token, message });
    const { details } = await assertCode(status.RESOURCE_EXHAUSTED, { token });
    assert.ok(details[0]?.type === 'google.rpc.RetryInfo', JSON.stringify(details));
    assert.ok(details[0].seconds >= 1 && details[0].seconds <= 5);
  });

  // NATS refuses what exceeds the remaining room and accepts smaller messages.
  const isByMessage = isScaledSet && 'the room is looked at for each message';
  test('while the queue is full: UNAVAILABLE with RetryInfo', {
    skip: isByMessage,
  }, async () => {
    const [enginePid] = service.enginePids();
    assert.ok(enginePid);
    // A stopped store keeps the backlog constant.
    process.kill(enginePid, 'SIGSTOP');
    try {
      const filling = { message: 'x'.repeat(100_000) };
      const isFull = async () => (await service.postLogs(filling)).status === 503;
      await until(isFull, { what: 'the backlog to be full' });
      const { details } = await assertCode(status.UNAVAILABLE, {});
      assert.equal(details[0]?.type, 'google.rpc.RetryInfo');
    } finally {
      process.kill(enginePid, 'SIGCONT');
    }
    await until(async () => (await call()).code === status.OK, { what: 'room in the queue' });
  });
});

suite('calls', () => {
  test('of unknown methods: UNIMPLEMENTED, naming the known one', async () => {
    for (const path of [
      '/opentelemetry.proto.collector.trace.v1.TraceService/Export',
      '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo',
      '/grpc.health.v1.Health/Watch',
    ]) {
      const { message } = await assertCode(status.UNIMPLEMENTED, { path, token: null });
      assert.ok(message.includes(`"${path}"`) && message.includes(exportPath), message);
      assert.equal(message.includes('OTEL_TRACES_EXPORTER=none'), path.includes('trace'));
    }
  });

  test('of the health check: SERVING without a token', async () => {
    const path = '/grpc.health.v1.Health/Check';
    const message = Buffer.alloc(0);
    const { response } = await assertCode(status.OK, { path, message, token: null });
    assert.deepEqual([...(response ?? [])], [0x08, 0x01]);
  });

  test('that are cancelled or time out leave the channel usable', async () => {
    await assertCode(status.CANCELLED, { onCall: (made) => made.cancel() });
    const options = { deadline: Date.now() - 1 };
    await assertCode(status.DEADLINE_EXCEEDED, { options });
    await assertCode(status.OK, {});
  });

  test('two hundred concurrent, every fourth refused', async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 200 }, (_, i) => call(i % 4 === 0 ? { token: null } : {})),
    );
    const expected = (i: number) => (i % 4 === 0 ? status.UNAUTHENTICATED : status.OK);
    for (const [i, { code }] of outcomes.entries()) assert.equal(code, expected(i), String(i));
  });

  test('with another content type are not gRPC', async () => {
    const answer = await callRaw(['content-type', 'application/x-protobuf']);
    assert.equal(answer[':status'], 404);
    assert.equal(answer['content-type'], 'application/problem+json');
    assert.equal(answer['grpc-status'], undefined);
  });
});

/** @param headers besides those of a call. @returns head and trailers of the response */
async function callRaw(...headers: readonly [string, string][]): Promise<Record<string, unknown>> {
  const { ingestUrl, caFile } = service.quickstart;
  const session = http2.connect(ingestUrl, {
    ca: readFileSync(caFile),
    strictSingleValueFields: false,
  } as http2.SecureClientSessionOptions);
  try {
    const hasType = headers.some(([name]) => name === 'content-type');
    const head = [':method', 'POST', ':path', exportPath, ':scheme', 'https'];
    head.push(':authority', 'localhost', 'te', 'trailers');
    if (!hasType) head.push('content-type', 'application/grpc');
    const stream = session.request([...head, ...headers.flat()]);
    const told: Record<string, unknown> = {};
    stream.on('response', (received) => Object.assign(told, received));
    stream.on('trailers', (trailers) => Object.assign(told, trailers));
    stream.resume();
    stream.end(Buffer.alloc(5));
    await new Promise((resolve, reject) => stream.on('end', resolve).on('error', reject));
    return told;
  } finally {
    session.close();
  }
}
