/** Retries. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { test } from 'node:test';
import { parseRetryAfter } from '../http.ts';
import { toBatch } from './batcher.ts';
import { createIngestClient, deliver, isTransient, retryDelayMs } from './delivery.ts';
import { Tally } from './tally.ts';

test('doubles delays up to ten seconds, with jitter', () => {
  const delays = [1, 2, 3, 7, 100].map((failures) => [
    retryDelayMs({ failures, retryAfterSeconds: undefined, random: 0 }),
    retryDelayMs({ failures, retryAfterSeconds: undefined, random: 0.999_999 }),
  ]);
  assert.deepEqual(delays, [
    [100, 200],
    [200, 400],
    [400, 800],
    [5000, 10_000],
    [5000, 10_000],
  ]);
});

test('waits at least for Retry-After', () => {
  assert.equal(retryDelayMs({ failures: 1, retryAfterSeconds: 3, random: 0 }), 3000);
  assert.equal(retryDelayMs({ failures: 1, retryAfterSeconds: 3, random: 0.5 }), 3050);
  assert.equal(retryDelayMs({ failures: 9, retryAfterSeconds: 1, random: 0 }), 5000);
});

const now = Date.parse('2027-01-31T08:00:00Z');
const headers: readonly [string | undefined, number | undefined][] = [
  ['5', 5],
  ['0', 0],
  ['86400', 3600],
  ['Sun, 31 Jan 2027 08:00:07 GMT', 7],
  ['Sun, 31 Jan 2027 07:00:00 GMT', 0],
  ['soon', undefined],
  [undefined, undefined],
];

for (const [header, seconds] of headers) {
  test(`reads Retry-After ${header ?? 'absent'} as ${seconds ?? 'unknown'}`, () => {
    assert.equal(parseRetryAfter(header, now), seconds);
  });
}

test('retries only transient statuses', () => {
  const statuses = [200, 202, 301, 400, 401, 403, 404, 408, 413, 415, 429, 500, 502, 503, 504];
  assert.deepEqual(statuses.filter(isTransient), [408, 429, 500, 502, 503, 504]);
});

test('gives up on a silent peer, before the timeout of a request', {
  timeout: 20_000,
}, async (t) => {
  const server = createServer((socket) => t.after(() => socket.destroy())).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const url = new URL(`http://127.0.0.1:${port}`);
  const client = createIngestClient({ url, token: 't', ca: undefined });
  t.after(() => client.close());
  const delivery = deliver(toBatch([{ json: '{}', isTimed: true, endOffset: 2, line: 1 }]), {
    client,
    tally: new Tally(),
    stop: new AbortController().signal,
    keyOf: () => 'key',
    giveUpAfterMs: 50,
  });
  await assert.rejects(delivery, /it does not respond in time; gave up after 0.05 s/);
});
