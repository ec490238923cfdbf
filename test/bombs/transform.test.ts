/**
 * Transforms that make a small request expensive: it gets its answer, small requests are answered
 * meanwhile, and memory stays within the stated bound.
 */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { configSchema } from '../../src/config/schema.ts';
import { createIngestToken, createReceiver } from '../harness/control.ts';
import { type Service, startService } from '../harness/service.ts';
import { assertWorks, memoryBytes, watch } from './watch.ts';

const { maxInFlightBytes } = configSchema.parse({}).ingest;
const maxGrowthBytes = 6 * maxInFlightBytes;
/** Guards against a hang. */
const maxWaitMs = 30_000;
const connections = 4;
const unavailable = 503;
/** What patterns search of a message. */
const searchedLength = 64 * 1024;

const depth = 40;
const nestedGroups = Array.from({ length: depth }, (_, n) => `(?P<g${n}>`).join('');
const messages = (count: number, text: string) =>
  JSON.stringify(Array.from({ length: count }, () => ({ message: text })));

const cases: readonly {
  readonly name: string;
  readonly transform: readonly object[];
  readonly body: () => string;
  readonly expected: number;
}[] = [
  {
    name: 'a pattern that copies each message into 40 labels',
    transform: [{ type: 'extract', pattern: `${nestedGroups}.*${')'.repeat(depth)}` }],
    body: () => messages(140, 'x'.repeat(searchedLength)),
    expected: 413,
  },
  {
    name: '20 redactions that each replace every character by 100',
    transform: Array.from({ length: 20 }, () => ({
      type: 'redact',
      pattern: '.',
      replacement: 'x'.repeat(100),
    })),
    body: () => messages(20, 'x'.repeat(searchedLength)),
    expected: 202,
  },
  {
    name: 'a pattern as large as is allowed, on long messages that it almost matches',
    transform: [{ type: 'drop', where: { field: 'message', matches: '(?:x?){150}[xy]{150}z' } }],
    body: () => messages(2, `z${'x'.repeat(searchedLength)}`),
    expected: 202,
  },
  {
    name: 'messages of JSON with a hundred thousand members each',
    transform: [{ type: 'parse', format: 'json' }],
    body: () => {
      const members = Array.from({ length: 100_000 }, (_, n) => `"${n}":1`).join(',');
      return messages(7, `{${members}}`);
    },
    expected: 202,
  },
  {
    name: 'a message of five million arrays in each other',
    transform: [{ type: 'parse', format: 'json' }],
    body: () => {
      const arrays = 5_000_000;
      return messages(1, `{"a":${'['.repeat(arrays)}${']'.repeat(arrays)}}`);
    },
    expected: 202,
  },
  {
    name: 'a message of two million equal pairs of logfmt, parsed 20 times',
    transform: Array.from({ length: 20 }, () => ({ type: 'parse', format: 'logfmt' })),
    body: () => messages(1, 'a=b '.repeat(2_000_000)),
    expected: 202,
  },
];

suite('transforms', { skip: process.platform !== 'linux' && 'it needs /proc' }, () => {
  let service: Service;
  before(async () => {
    service = await startService();
  });
  after(() => service.stop());

  for (const { name, transform, body, expected } of cases) {
    test(`${name}, on ${connections} connections`, async () => {
      const { receiverId } = await createReceiver(service, { transform } as never);
      const { token } = await createIngestToken(service, receiverId);
      const { http_json: json } = service.quickstart.receivers;
      const url = json.url.replace(json.receiverId, receiverId);
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const sent = body();
      const idleBytes = memoryBytes(service.process.pid, 'VmRSS');
      const { result, pings, longestMs, peakBytes } = await watch(service, () =>
        Promise.all(
          Array.from({ length: connections }, async () => {
            const answer = await service.http.send(url, { method: 'POST', headers, body: sent });
            return answer.status;
          }),
        ),
      );
      assert.ok(result.includes(expected), `the answers are ${result.join()}`);
      const others = result.filter((status) => status !== expected && status !== unavailable);
      assert.deepEqual(others, []);
      assert.deepEqual([...pings.keys()], [202], 'each small request must be accepted');
      assert.ok(longestMs <= maxWaitMs, `a small request waited ${longestMs} ms`);
      const growth = peakBytes - idleBytes;
      assert.ok(growth <= maxGrowthBytes, `memory grew by ${growth} bytes`);
    });
  }

  test('everything works afterwards', () => assertWorks(service));
});
