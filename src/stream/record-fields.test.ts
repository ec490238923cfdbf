/** Which parts of a log a list returns, and what it calls them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LogRecord } from '../model/plan.ts';
import { parseRecordFields, pickFields } from './record-fields.ts';
import { listResponse } from './responses.ts';

const log: LogRecord = {
  logId: 'id',
  timestamp: '2026-04-01T08:30:00.000Z',
  timestampNanos: '1775032200000000000',
  observedTimestamp: '2026-04-01T08:30:00.000Z',
  receivedAt: '2026-04-01T08:30:01.000Z',
  streamId: 'stream',
  receiverId: 'receiver',
  severity: 'INFO',
  severityNumber: 9,
  message: 'text',
  serviceName: 'orders',
  serviceNamespace: 'shop',
  host: 'h1',
  labels: Object.fromEntries([
    ['a.b', '1'],
    ['c', '2'],
    ['__proto__', '3'],
  ]),
  kubernetes: {
    cluster: 'c',
    namespace: 'n',
    node: 'o',
    pod: 'p',
    container: 'k',
    deployment: 'd',
  },
  traceId: '',
  spanId: '',
  traceFlags: 0,
  eventName: '',
  scope: { name: 's', version: '1' },
};
const { logId, timestamp } = log;
/** As the OpenAPI document describes them. */
const loggedAs = listResponse.shape.logs;

const cases: readonly (readonly [string, object])[] = [
  ['message', { message: 'text' }],
  ['logId, severityNumber', { severityNumber: 9 }],
  ['service,level', { serviceName: 'orders', severity: 'INFO' }],
  ['k8sPod,k8s.node.name', { kubernetes: { node: 'o', pod: 'p' } }],
  ['k8sPod,kubernetes', { kubernetes: log.kubernetes }],
  ['kubernetes,k8sPod', { kubernetes: log.kubernetes }],
  ['scope', { scope: log.scope }],
  ['label.a.b', { labels: { 'a.b': '1' } }],
  ['label.__proto__', { labels: Object.fromEntries([['__proto__', '3']]) }],
  ['label.none,label.c', { labels: { c: '2' } }],
  ['label.none', { labels: {} }],
  ['label.c,labels', { labels: log.labels }],
];

for (const [text, parts] of cases) {
  test(text, () => {
    const fields = parseRecordFields(text);
    const picked = pickFields(log, fields);
    assert.deepEqual(picked, { logId, timestamp, ...parts });
    assert.equal(loggedAs.safeParse([picked]).error, undefined);
  });
}

test('refuses unknown names', () => {
  for (const text of ['', 'a', 'message,', 'label.', 'labels.c', 'kubernetes.x']) {
    assert.equal(parseRecordFields(text), undefined, text);
  }
});
