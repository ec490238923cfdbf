/** gRPC frame by frame: requests that no stock client sends, and the exact response. */
import assert from 'node:assert/strict';
import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders } from 'node:http2';
import { after, before, beforeEach, test } from 'node:test';
import { status } from '@grpc/grpc-js';
import fc from 'fast-check';
import { frame } from '../../src/protocols/otlp/grpc-message.ts';
import { readRpcStatus } from '../protocols/google-rpc.ts';
import { until } from '../harness/until.ts';
import { sendHttp1 } from './client.ts';
import { type Edge } from './edge.ts';
import {
  callRaw,
  checkPath,
  connectHttp2,
  exportPath,
  openGrpcEdge,
  type RawCall,
  type RawOutcome,
} from './grpc-edge.ts';

let edge: Edge;
let opened: ClientHttp2Session | undefined;
before(async () => {
  edge = await openGrpcEdge();
});
after(async () => {
  opened?.destroy();
  await edge.close();
});
beforeEach(() => {
  edge.state.appended.length = 0;
});

/** One for all tests, opened by the first: idle before, it would be closed. */
function session(): ClientHttp2Session {
  opened ??= connectHttp2(edge);
  return opened;
}

const event = frame(Buffer.from('event'));

test('answers with headers, one framed message and trailers', async () => {
  const { headers, body, trailers, rstCode } = await callRaw(session());
  assert.equal(headers[':status'], 200);
  assert.equal(headers['content-type'], 'application/grpc');
  assert.equal(headers['grpc-status'], undefined);
  assert.equal(headers['grpc-accept-encoding'], 'identity,gzip');
  assert.deepEqual(body, frame(Buffer.from('accepted 1')));
  assert.equal(trailers['grpc-status'], '0');
  assert.equal(rstCode, 0);
});

test('refuses with headers only, and details in base64 without padding', async () => {
  const outcome = await callRaw(session(), { body: frame(Buffer.from('bad')) });
  const { headers, body, trailers } = outcome;
  assert.equal(headers[':status'], 200);
  assert.equal(headers['content-type'], 'application/grpc');
  assert.equal(headers['grpc-status'], String(status.INVALID_ARGUMENT));
  assert.match(String(headers['grpc-message']), /^cannot decode this \(request [\w-]+\)$/);
  const details = String(headers['grpc-status-details-bin']);
  assert.doesNotMatch(details, /=/);
  assert.equal(readRpcStatus(Buffer.from(details, 'base64')).code, status.INVALID_ARGUMENT);
  assert.equal(body.length, 0);
  assert.deepEqual({ ...trailers }, {});
});

const flagged = (flag: number, text: string) => {
  const message = frame(Buffer.from(text));
  message.writeUInt8(flag, 0);
  return message;
};
const declaring = (length: number, text: string) => {
  const message = frame(Buffer.from(text));
  message.writeUInt32BE(length, 1);
  return message;
};

interface Refusal {
  readonly name: string;
  readonly call: Partial<RawCall>;
  readonly code: number;
  readonly message: RegExp;
}

const refusals: readonly Refusal[] = [
  {
    name: 'no message',
    call: { body: Buffer.alloc(0) },
    code: status.INVALID_ARGUMENT,
    message: /ended without one/,
  },
  {
    name: 'half a head',
    call: { body: event.subarray(0, 3) },
    code: status.INVALID_ARGUMENT,
    message: /ended in the head/,
  },
  {
    name: 'less than declared',
    call: { body: event.subarray(0, 7) },
    code: status.INVALID_ARGUMENT,
    message: /2 bytes came of 5/,
  },
  {
    name: 'a length that no message has',
    call: { body: declaring(0xffffffff, 'event') },
    code: status.INVALID_ARGUMENT,
    message: /5 bytes came of 4294967295/,
  },
  {
    name: 'two messages',
    call: { body: Buffer.concat([event, event]) },
    code: status.INVALID_ARGUMENT,
    message: /10 bytes follow it/,
  },
  {
    name: 'a byte too many',
    call: { body: Buffer.concat([event, Buffer.alloc(1)]) },
    code: status.INVALID_ARGUMENT,
    message: /1 bytes follow it/,
  },
  {
    name: 'a compressed message without an encoding',
    call: { body: flagged(1, 'event') },
    code: status.INVALID_ARGUMENT,
    message: /names no compression/,
  },
  {
    name: 'a compressed message that is none',
    call: { body: flagged(1, 'event'), headers: { 'grpc-encoding': 'gzip' } },
    code: status.INVALID_ARGUMENT,
    message: /not valid gzip/,
  },
  {
    name: 'a flag of no meaning',
    call: { body: flagged(2, 'event') },
    code: status.INVALID_ARGUMENT,
    message: /flag is 2/,
  },
  {
    name: 'two encodings',
    call: { headers: { 'grpc-encoding': ['gzip', 'identity'] } },
    code: status.UNIMPLEMENTED,
    message: /"gzip,identity"/,
  },
  {
    name: 'two tokens',
    call: { headers: { authorization: ['Bearer wri_good', 'Bearer wri_good'] } },
    code: status.UNAUTHENTICATED,
    message: /two Authorization/,
  },
  {
    name: 'a token in binary metadata',
    call: { headers: { authorization: [], 'authorization-bin': 'QmVhcmVyIHdyaV9nb29k' } },
    code: status.UNAUTHENTICATED,
    message: /cannot find a token/,
  },
  {
    name: 'an unknown token before anything that follows',
    call: {
      body: event.subarray(0, 3),
      headers: {
        authorization: 'Bearer wri_unknown',
        'content-type': 'application/grpc+json',
        'grpc-encoding': 'zstd',
      },
    },
    code: status.UNAUTHENTICATED,
    message: /cannot accept this token/,
  },
  {
    name: 'messages as JSON',
    call: { headers: { 'content-type': 'application/grpc+json' } },
    code: status.UNIMPLEMENTED,
    message: /"application\/grpc\+json"/,
  },
  {
    name: 'gRPC-Web',
    call: { headers: { 'content-type': 'application/grpc-web+proto' } },
    code: status.UNIMPLEMENTED,
    message: /"application\/grpc-web\+proto"/,
  },
  {
    name: 'a content type that only begins as gRPC',
    call: { headers: { 'content-type': 'Application/GRPCish' } },
    code: status.UNIMPLEMENTED,
    message: /content type/,
  },
  {
    name: 'another HTTP method',
    call: { headers: { ':method': 'PUT' } },
    code: status.UNIMPLEMENTED,
    message: /cannot call with PUT/,
  },
  {
    name: 'a path with a query',
    call: { path: `${exportPath}?x=1` },
    code: status.UNIMPLEMENTED,
    message:
      /cannot find the gRPC method "\/opentelemetry.+\?x=1": this port serves \/open.+Export and/,
  },
  {
    name: 'a route of HTTP',
    call: { path: '/v1/receivers/rcv_a/logs' },
    code: status.UNIMPLEMENTED,
    message: /cannot find the gRPC method "\/v1\/receivers\/rcv_a\/logs"/,
  },
  {
    name: 'an expectation',
    call: { headers: { expect: 'a miracle' } },
    code: status.INVALID_ARGUMENT,
    message: /cannot meet this Expect/,
  },
  {
    name: 'a deadline that has passed',
    call: { headers: { 'grpc-timeout': '1n' } },
    code: status.DEADLINE_EXCEEDED,
    message: /deadline has passed/,
  },
  ...['', '1', 'S', '-1S', '1.5S', '123456789S', '1s', ['1S', '1S']].map((timeout) => ({
    name: `the deadline ${JSON.stringify(timeout)}`,
    call: { headers: { 'grpc-timeout': timeout } },
    code: status.INVALID_ARGUMENT,
    message: /grpc-timeout/,
  })),
  {
    name: 'a health request of many bytes',
    call: { path: checkPath, body: frame(Buffer.alloc(1000)) },
    code: status.RESOURCE_EXHAUSTED,
    message: /256 bytes/,
  },
];

for (const { name, call, code, message } of refusals) {
  test(`refuses ${name} with ${status[code] ?? code}`, async () => {
    const outcome = await callRaw(session(), call);
    assertRefused(outcome, code);
    assert.match(decodeURIComponent(String(outcome.headers['grpc-message'])), message);
    assert.equal(edge.state.appended.length, 0);
    assert.deepEqual(edge.state.logged, []);
  });
}

function assertRefused({ headers, body }: RawOutcome, code: number): void {
  assert.equal(headers['content-type'], 'application/grpc');
  assert.equal(headers[':status'], 200);
  assert.equal(headers['grpc-status'], String(code), String(headers['grpc-message']));
  assert.equal(body.length, 0);
}

for (const timeout of ['99999999H', '60000000u', '60000m', '1M', '60S']) {
  test(`accepts a call with the deadline ${timeout}`, async () => {
    const { trailers } = await callRaw(session(), { headers: { 'grpc-timeout': timeout } });
    assert.equal(trailers['grpc-status'], '0');
  });
}

for (const type of ['application/grpc', 'application/grpc+proto', 'APPLICATION/GRPC']) {
  test(`accepts ${type}`, async () => {
    const { trailers } = await callRaw(session(), { headers: { 'content-type': type } });
    assert.equal(trailers['grpc-status'], '0');
  });
}

test('accepts a message that arrives byte by byte', async () => {
  const { trailers } = await callRaw(session(), { body: undefined }, (stream) => {
    for (const byte of event) stream.write(Buffer.from([byte]));
    stream.end();
  });
  assert.equal(trailers['grpc-status'], '0');
});

test('accepts an uncompressed message in a call with an encoding', async () => {
  const { trailers } = await callRaw(session(), { headers: { 'grpc-encoding': 'gzip' } });
  assert.equal(trailers['grpc-status'], '0');
});

test('checks the token before the body', async () => {
  const headers = { authorization: 'Bearer wri_unknown' };
  const outcome = await callRaw(session(), { headers, body: undefined });
  assertRefused(outcome, status.UNAUTHENTICATED);
});

test('delivers a refusal to a client that never stops sending', async () => {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const headers = { authorization: 'Bearer wri_unknown' };
  const outcome = await callRaw(session(), { headers, body: undefined }, (stream) => {
    stream.on('close', resolve);
    flood(stream);
  });
  assertRefused(outcome, status.UNAUTHENTICATED);
  await closed;
  assertRefused(await callRaw(session(), { headers }), status.UNAUTHENTICATED);
});

/** Sends until the stream closes, at a pace that leaves the processor to other tests. */
function flood(stream: ClientHttp2Stream): void {
  if (stream.destroyed || stream.closed) return;
  stream.write(Buffer.alloc(16 * 1024), () => setTimeout(flood, 2, stream));
}

test('refuses a slow client with DEADLINE_EXCEEDED and closes its stream', async (t) => {
  const bodyPace = { timeoutMs: 50, graceMs: 50, minBytesPerSecond: 1 };
  const hasty = await openGrpcEdge({ admission: { bodyPace } });
  const caller = connectHttp2(hasty);
  t.after(async () => {
    caller.destroy();
    await hasty.close();
  });
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const outcome = await callRaw(caller, { body: undefined }, (stream) => {
    stream.on('close', resolve);
    stream.write(event.subarray(0, 7));
  });
  assertRefused(outcome, status.DEADLINE_EXCEEDED);
  await closed;
});

test('answers any message in gRPC', async () => {
  const known = [status.OK, status.INVALID_ARGUMENT, status.RESOURCE_EXHAUSTED];
  const pieces = fc.array(fc.uint8Array({ minLength: 1, maxLength: 40 }), { maxLength: 4 });
  const property = fc.asyncProperty(pieces, fc.boolean(), async (sent, isFramed) => {
    const bytes = Buffer.concat(sent);
    const { headers, trailers } = await callRaw(
      session(),
      { body: undefined, headers: { 'grpc-encoding': 'gzip' } },
      (stream) => {
        if (isFramed) stream.write(frame(bytes).subarray(0, 5));
        for (const piece of sent) stream.write(Buffer.from(piece));
        stream.end();
      },
    );
    const code = Number(headers['grpc-status'] ?? trailers['grpc-status']);
    assert.ok(known.includes(code), `status ${code}`);
    if (isFramed) assert.equal(code, status.OK);
  });
  await fc.assert(property, { numRuns: 200 });
  assert.deepEqual(edge.state.logged, []);
});

test('closes only the stream of a response that fails', async (t) => {
  const failing = await openGrpcEdge({
    protocol: {
      encodeProblem: () => {
        throw new TypeError('cannot encode');
      },
    },
  });
  const caller = connectHttp2(failing);
  t.after(async () => {
    caller.destroy();
    await failing.close();
  });
  const outcome = await callRaw(caller, { body: frame(Buffer.from('bad')) });
  assert.equal(outcome.headers['grpc-status'], undefined);
  assert.equal(failing.state.logged.length, 1);
  assert.equal((await callRaw(caller)).trailers['grpc-status'], '0');
});

test('stores nothing of a call that is reset before its end', async () => {
  edge.metrics.resetMetrics();
  const ended = callRaw(session(), { body: undefined }, (stream) => {
    // The answer to a PING shows that the call has begun.
    stream.write(event.subarray(0, 7), () => session().ping(() => stream.close(8)));
  });
  await ended;
  const counted = async () => /outcome="malformed"\} 1/.test(await edge.metrics.metrics());
  await until(counted, { what: 'the broken call to be counted' });
  assert.equal(edge.state.appended.length, 0);
  assert.deepEqual(edge.state.logged, []);
});

test('sends 100 Continue after the checks of the headers', async () => {
  let continued = false;
  const expecting = (token: string) =>
    callRaw(
      session(),
      { body: undefined, headers: { expect: '100-continue', authorization: `Bearer ${token}` } },
      (stream) => {
        stream.on('continue', () => {
          continued = true;
          stream.end(event);
        });
      },
    );
  assertRefused(await expecting('wri_unknown'), status.UNAUTHENTICATED);
  assert.equal(continued, false);
  assert.equal((await expecting('wri_good')).trailers['grpc-status'], '0');
  assert.equal(continued, true);
});

test('answers gRPC on every port in gRPC', async () => {
  for (const path of [exportPath, '/', '/healthz', '/api/v1/logs', '/%zz']) {
    for (const method of ['POST', 'GET', 'OPTIONS', 'CONNECTED']) {
      const stream = connectHttp2(edge, edge.ports.stream);
      const outcome = await callRaw(stream, { path, headers: { ':method': method } });
      stream.destroy();
      assertRefused(outcome, status.UNIMPLEMENTED);
    }
  }
});

test('refuses CONNECT in gRPC', async () => {
  const { promise, resolve } = Promise.withResolvers<IncomingHttpHeaders>();
  const stream = session().request({
    ':method': 'CONNECT',
    ':authority': 'localhost',
    'content-type': 'application/grpc',
  });
  stream.on('response', resolve);
  const headers = await promise;
  stream.close();
  assert.equal(headers['content-type'], 'application/grpc');
  assert.equal(headers['grpc-status'], String(status.UNIMPLEMENTED));
});

for (const surface of ['ingest', 'stream'] as const) {
  test(`refuses gRPC over HTTP/1.1 at the ${surface} port without a body`, async () => {
    const to = { port: edge.ports[surface], ca: edge.ca };
    for (const type of ['application/grpc', 'application/grpc-web+proto']) {
      const sent = {
        method: 'POST',
        path: exportPath,
        headers: [['Content-Type', type]],
        body: event,
      } as const;
      const answer = await sendHttp1(to, sent);
      assert.equal(answer.status, 505);
      assert.equal(answer.headers['content-type'], 'application/grpc');
      assert.equal(answer.headers['grpc-status'], String(status.UNIMPLEMENTED));
      assert.match(String(answer.headers['grpc-message']), /let the proxy pass HTTP\/2 on/);
      assert.equal(answer.body, '');
    }
  });
}

test('refuses gRPC over plain HTTP at the ops port without a body', async () => {
  const answer = await fetch(`http://127.0.0.1:${edge.ports.ops}/metrics`, {
    headers: { 'content-type': 'application/grpc' },
  });
  assert.equal(answer.status, 505);
  assert.equal(answer.headers.get('grpc-status'), String(status.UNIMPLEMENTED));
  assert.equal(await answer.text(), '');
});
