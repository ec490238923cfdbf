/** gRPC as a stock client sees it: every status and its metadata. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { type Client, compressionAlgorithms, status } from '@grpc/grpc-js';
import { AppError } from '../../src/model/errors.ts';
import { readRpcStatus } from '../protocols/google-rpc.ts';
import { until } from '../harness/until.ts';
import { addReceiver, addToken, type Edge } from './edge.ts';
import { type Call, call, checkPath, openClient, openGrpcEdge, type Outcome } from './grpc-edge.ts';

let edge: Edge;
let client: Client;
before(async () => {
  edge = await openGrpcEdge();
  client = openClient(edge);
  addToken(edge.state, 'wri_scopeless', { scopes: new Set() });
  addToken(edge.state, 'wri_revoked', { revoked: true });
  addToken(edge.state, 'wri_lost', { receiverId: 'rcv_gone' });
  addToken(edge.state, 'wri_metrics', { receiverId: 'rcv_metrics' });
  addReceiver(edge.state, 'rcv_metrics', { kind: 'prometheus' });
  addToken(edge.state, 'wri_far', { receiverId: 'rcv_far' });
  addReceiver(edge.state, 'rcv_far', { allowedCidrs: ['192.0.2.0/24'] });
  addToken(edge.state, 'wri_limited', { receiverId: 'rcv_limited' });
  const limits = { eventsPerSecond: 1, burstEvents: 1, maxBodyBytes: null };
  addReceiver(edge.state, 'rcv_limited', { limits });
  addToken(edge.state, 'wri_small', { receiverId: 'rcv_small' });
  const smallLimits = { eventsPerSecond: null, burstEvents: null, maxBodyBytes: 20 };
  addReceiver(edge.state, 'rcv_small', { limits: smallLimits });
});
after(async () => {
  client.close();
  await edge.close();
});
beforeEach(() => {
  edge.state.appended.length = 0;
  edge.state.logged.length = 0;
  edge.state.grantFault = undefined;
  edge.state.appendFault = undefined;
});

const bearer = (token: string) => [['authorization', `Bearer ${token}`]] as const;

test('accepts a call and answers with a message and status 0', async () => {
  const { code, message, metadata } = await call(client, { message: 'one\ntwo' });
  assert.equal(code, status.OK);
  assert.equal(message, 'accepted 2');
  assert.deepEqual(metadata.get('content-type'), ['application/grpc']);
  assert.equal(edge.state.appended.length, 1);
});

interface Refusal {
  readonly name: string;
  readonly change?: Partial<Call>;
  readonly fault?: { readonly grant?: AppError; readonly append?: AppError };
  readonly code: number;
  /** Whole seconds of `RetryInfo`. */
  readonly retrySeconds?: number;
  readonly field?: string;
}

const away = new AppError('unavailable', 'cannot reach the directory', { retryAfterSeconds: 3 });
const full = new AppError('unavailable', 'cannot queue: the disk is full', {
  retryAfterSeconds: 2,
});

const refusals: readonly Refusal[] = [
  { name: 'no token', change: { metadata: [] }, code: status.UNAUTHENTICATED },
  {
    name: 'two tokens in one value',
    change: { metadata: [['authorization', 'Bearer wri_good, Bearer wri_good']] },
    code: status.UNAUTHENTICATED,
  },
  {
    name: 'another scheme',
    change: { metadata: [['authorization', 'Basic d3JpX2dvb2Q6']] },
    code: status.UNAUTHENTICATED,
  },
  {
    name: 'an unknown token',
    change: { metadata: bearer('wri_unknown') },
    code: status.UNAUTHENTICATED,
  },
  {
    name: 'a revoked token',
    change: { metadata: bearer('wri_revoked') },
    code: status.UNAUTHENTICATED,
  },
  {
    name: 'an access token',
    change: { metadata: bearer('wra_reader') },
    code: status.UNAUTHENTICATED,
  },
  { name: 'a receiver gone', change: { metadata: bearer('wri_lost') }, code: status.NOT_FOUND },
  {
    name: 'a token without the scope',
    change: { metadata: bearer('wri_scopeless') },
    code: status.PERMISSION_DENIED,
  },
  {
    name: 'a receiver of another kind',
    change: { metadata: bearer('wri_metrics') },
    code: status.PERMISSION_DENIED,
  },
  {
    name: 'an address not allowed',
    change: { metadata: bearer('wri_far') },
    code: status.PERMISSION_DENIED,
  },
  {
    name: 'a message that cannot be decoded',
    change: { message: 'bad' },
    code: status.INVALID_ARGUMENT,
    field: '',
  },
  {
    name: 'a message over the cap',
    change: { message: Buffer.alloc(1001, 'x') },
    code: status.RESOURCE_EXHAUSTED,
  },
  {
    name: "a message over the receiver's own cap",
    change: { message: Buffer.alloc(30, 'x'), metadata: bearer('wri_small') },
    code: status.RESOURCE_EXHAUSTED,
  },
  {
    name: 'the directory away',
    fault: { grant: away },
    code: status.UNAVAILABLE,
    retrySeconds: 3,
  },
  {
    name: 'a queue that is full',
    fault: { append: full },
    code: status.UNAVAILABLE,
    retrySeconds: 2,
  },
  {
    name: 'a method that is not served',
    change: { path: '/opentelemetry.proto.collector.trace.v1.TraceService/Export' },
    code: status.UNIMPLEMENTED,
  },
];

for (const { name, change, fault, code, retrySeconds, field } of refusals) {
  test(`refuses ${name} with ${status[code] ?? code}`, async () => {
    edge.state.grantFault = fault?.grant;
    edge.state.appendFault = fault?.append;
    const outcome = await call(client, change);
    assert.equal(outcome.code, code, outcome.details);
    const details = detailsOf(outcome);
    const retries = details.flatMap((detail) =>
      detail.type === 'google.rpc.RetryInfo' ? [detail.seconds] : [],
    );
    assert.equal(retries.length, retrySeconds === undefined ? 0 : 1);
    for (const seconds of retries) {
      assert.ok(seconds >= 1 && seconds <= (retrySeconds ?? 0), String(seconds));
    }
    const violations = details.flatMap((detail) =>
      detail.type === 'google.rpc.BadRequest' ? detail.violations : [],
    );
    assert.deepEqual(
      violations.map((violation) => violation.field),
      field === undefined ? [] : [field],
    );
    assert.equal(edge.state.appended.length, 0);
    assert.deepEqual(edge.state.logged, []);
  });
}

/** @returns the details, after checking that they repeat the status of the call. */
function detailsOf({ code, details, trailers }: Outcome) {
  const [bytes] = trailers.get('grpc-status-details-bin');
  assert.ok(bytes instanceof Buffer);
  const rpcStatus = readRpcStatus(bytes);
  assert.equal(rpcStatus.code, code);
  assert.equal(rpcStatus.message, details);
  assert.match(rpcStatus.message, / \(request [\w-]+\)$/);
  return rpcStatus.details;
}

test('refuses calls over the quota with RESOURCE_EXHAUSTED and RetryInfo', async () => {
  const limited = { metadata: bearer('wri_limited'), message: 'one\ntwo\nthree' };
  const first = await call(client, limited);
  assert.equal(first.code, status.OK);
  assert.deepEqual(first.metadata.get('ratelimit-policy'), ['"receiver";q=1;w=1']);
  const second = await call(client, limited);
  assert.equal(second.code, status.RESOURCE_EXHAUSTED);
  const [retry] = detailsOf(second);
  assert.ok(retry?.type === 'google.rpc.RetryInfo' && retry.seconds >= 1 && retry.seconds <= 5);
  assert.equal(edge.state.appended.length, 1);
});

test('answers a bug with UNAVAILABLE, without details, and logs it', async () => {
  const outcome = await call(client, { message: 'bug' });
  assert.equal(outcome.code, status.UNAVAILABLE);
  assert.doesNotMatch(JSON.stringify(outcome), /secret internals/);
  detailsOf(outcome);
  assert.equal(edge.state.logged.length, 1);
  assert.match(edge.state.logged[0] ?? '', /secret internals/);
});

test('inflates gzip messages, up to a separate limit', async () => {
  const zipping = openClient(edge, { compression: compressionAlgorithms.gzip });
  const message = 'x\n'.repeat(50);
  assert.equal((await call(zipping, { message })).message, 'accepted 51');
  const over = await call(zipping, { message: Buffer.alloc(5000, 'x') });
  assert.equal(over.code, status.RESOURCE_EXHAUSTED);
  assert.match(over.details, /1000 bytes once inflated/);
  assert.deepEqual(detailsOf(over), []);
  const asked = await call(zipping, { path: checkPath, message: Buffer.from([10, 0]) });
  assert.equal(asked.message, '\x08\x01');
  zipping.close();
});

test('refuses another compression with UNIMPLEMENTED and the supported ones', async () => {
  const deflating = openClient(edge, { compression: compressionAlgorithms.deflate });
  const outcome = await call(deflating);
  deflating.close();
  assert.equal(outcome.code, status.UNIMPLEMENTED);
  assert.match(outcome.details, /"deflate"/);
  assert.deepEqual(outcome.trailers.get('grpc-accept-encoding'), ['identity,gzip']);
});

test('percent-encodes non-ASCII messages', async () => {
  const words = 'cannot accept 100 % of “Grüße”\n\u{1f600}';
  edge.state.appendFault = new AppError('malformed', words);
  const outcome = await call(client);
  assert.equal(outcome.code, status.INVALID_ARGUMENT);
  assert.ok(outcome.details.startsWith(words), outcome.details);
  detailsOf(outcome);
});

test('stores nothing of a cancelled call', async () => {
  const outcome = await call(client, {}, (made) => made.cancel());
  assert.equal(outcome.code, status.CANCELLED);
  const { promise, resolve } = Promise.withResolvers<void>();
  edge.state.appendGate = promise;
  let made: { cancel(): void } | undefined;
  const waiting = call(client, {}, (it) => {
    made = it;
  });
  await until(() => inFlight(/[1-9]/), { what: 'the call to be in flight' });
  made?.cancel();
  assert.equal((await waiting).code, status.CANCELLED);
  resolve();
  await until(() => inFlight(/0\n/), { what: 'its memory to be released' });
  assert.equal((await call(client)).code, status.OK);
  assert.deepEqual(edge.state.logged, []);
});

async function inFlight(value: RegExp): Promise<boolean> {
  const text = await edge.metrics.metrics();
  return new RegExp(`weir_ingest_in_flight_bytes ${value.source}`).test(`${text}\n`);
}

test('ends a waiting call at its deadline', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  edge.state.appendGate = promise;
  const outcome = await call(client, { options: { deadline: Date.now() + 50 } });
  assert.equal(outcome.code, status.DEADLINE_EXCEEDED);
  resolve();
  edge.state.appendGate = Promise.resolve();
  assert.equal((await call(client, { options: { deadline: Date.now() + 60_000 } })).code, 0);
});

test('accepts concurrent calls on one connection', async () => {
  const outcomes = await Promise.all(Array.from({ length: 500 }, () => call(client)));
  assert.deepEqual([...new Set(outcomes.map(({ code }) => code))], [status.OK]);
  assert.equal(edge.state.appended.length, 500);
});

test('accepts a large message', async (t) => {
  const mebibytes = 16 * 1024 * 1024;
  const large = await openGrpcEdge({
    protocol: { maxBodyBytes: mebibytes + 5 },
    admission: { maxInFlightBytes: 128 * 1024 * 1024 },
  });
  const caller = openClient(large);
  t.after(async () => {
    caller.close();
    await large.close();
  });
  const outcome = await call(caller, { message: Buffer.alloc(mebibytes, 'x') });
  assert.equal(outcome.message, 'accepted 1');
  const over = await call(caller, { message: Buffer.alloc(mebibytes + 1, 'x') });
  assert.equal(over.code, status.RESOURCE_EXHAUSTED);
  assert.match(over.details, /16777221 bytes/);
});

test('queues calls beyond the stream limit', async (t) => {
  const narrow = await openGrpcEdge({ limits: { maxStreamsPerConnection: 3 } });
  const caller = openClient(narrow);
  t.after(async () => {
    caller.close();
    await narrow.close();
  });
  // The client learns the limit from its first call.
  await call(caller);
  const { promise, resolve } = Promise.withResolvers<void>();
  narrow.state.appendGate = promise;
  let answered = 0;
  const outcomes = Array.from({ length: 20 }, async () => {
    const outcome = await call(caller);
    answered += 1;
    return outcome.code;
  });
  const inFlightBytes = async () =>
    Number(/in_flight_bytes (\d+)/.exec(await narrow.metrics.metrics())?.[1]);
  const one = 4096 + 2 * 16 * 1024;
  await until(async () => (await inFlightBytes()) === 3 * one, {
    what: 'three calls to be in flight',
  });
  await setImmediate();
  assert.equal(await inFlightBytes(), 3 * one);
  assert.equal(answered, 0);
  resolve();
  assert.deepEqual([...new Set(await Promise.all(outcomes))], [status.OK]);
});

test('answers a repeated Idempotency-Key with the first response', async () => {
  const metadata = [...bearer('wri_good'), ['idempotency-key', 'once']] as const;
  const first = await call(client, { metadata });
  const second = await call(client, { metadata });
  assert.deepEqual([first.message, second.message], ['accepted 1', 'accepted 1']);
  assert.deepEqual(second.metadata.get('idempotency-replayed'), ['true']);
  assert.equal(edge.state.appended.length, 1);
  const other = await call(client, { metadata, message: 'another' });
  assert.equal(other.code, status.INVALID_ARGUMENT);
  assert.deepEqual(
    detailsOf(other).flatMap((it) => (it.type === 'google.rpc.BadRequest' ? it.violations : [])),
    [{ field: 'Idempotency-Key', description: other.details.replace(/ \(request .*/, '') }],
  );
});

test('reports health without a token', async () => {
  const ask = (message: Buffer) => call(client, { path: checkPath, metadata: [], message });
  const asLogs = 'opentelemetry.proto.collector.logs.v1.LogsService';
  const requests = [
    Buffer.alloc(0),
    Buffer.from([10, 0]),
    Buffer.concat([Buffer.from([10, asLogs.length]), Buffer.from(asLogs)]),
  ];
  for (const request of requests) {
    const { code, message } = await ask(request);
    assert.equal(code, status.OK);
    assert.equal(message, '\x08\x01');
  }
  edge.state.missing = ['queue'];
  assert.equal((await ask(Buffer.alloc(0))).message, '\x08\x02');
  edge.state.missing = [];
  assert.equal((await ask(Buffer.from('\x0a\x05other'))).code, status.NOT_FOUND);
  const watch = await call(client, { path: '/grpc.health.v1.Health/Watch', metadata: [] });
  assert.equal(watch.code, status.UNIMPLEMENTED);
});

test('refuses calls on the other ports in gRPC', async () => {
  const stream = openClient(edge, { port: edge.ports.stream });
  const { code, details } = await call(stream);
  stream.close();
  assert.equal(code, status.UNIMPLEMENTED);
  assert.match(details, /^cannot find the gRPC method .*: this port serves none/);
});

test('counts calls by method and status', async () => {
  edge.metrics.resetMetrics();
  await call(client);
  await call(client, { message: 'bad' });
  await call(client, { path: '/other/Method' });
  const text = await edge.metrics.metrics();
  const exported = '/opentelemetry.proto.collector.logs.v1.LogsService/Export';
  for (const line of [
    'weir_ingest_requests_total{protocol="otlp_grpc",outcome="accepted"} 1',
    'weir_ingest_requests_total{protocol="otlp_grpc",outcome="malformed"} 1',
    `_count{surface="ingest",route="${exported}",status="200"} 1`,
    `_count{surface="ingest",route="${exported}",status="400"} 1`,
    '_count{surface="ingest",route="unknown",status="405"} 1',
  ]) {
    assert.ok(text.includes(line), line);
  }
});

test('lets calls in flight end while closing, and accepts no new ones', async () => {
  const closing = await openGrpcEdge({ server: { closing: { noticeMs: 0, graceMs: 10_000 } } });
  const caller = openClient(closing);
  const { promise, resolve } = Promise.withResolvers<void>();
  closing.state.appendGate = promise;
  const underWay = call(caller);
  const holds = async () => /in_flight_bytes [1-9]/.test(await closing.metrics.metrics());
  await until(holds, { what: 'the call to be in flight' });
  const closed = closing.close();
  const late = openClient(closing);
  assert.equal((await call(late)).code, status.UNAVAILABLE);
  late.close();
  resolve();
  assert.equal((await underWay).message, 'accepted 1');
  await closed;
  caller.close();
});
