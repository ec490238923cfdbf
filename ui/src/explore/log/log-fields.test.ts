/** Names, values and filters of log fields. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Log } from '../../api/models.ts';
import {
  fieldRows,
  fieldTitle,
  fieldValue,
  isColumnName,
  labelKeysOf,
  severityTone,
  toFilter,
  withNanos,
} from './log-fields.ts';

const log: Log = {
  logId: '019a0000-0000-7000-8000-000000000001',
  timestamp: '2026-04-01T08:30:00.123Z',
  timestampNanos: '1775032200123456789',
  observedTimestamp: '2026-04-01T08:30:00.123Z',
  receivedAt: '2026-04-01T08:30:00.200Z',
  streamId: '019a0000-0000-7000-8000-00000000000a',
  receiverId: 'rcv_1',
  severity: 'ERROR',
  severityNumber: 17,
  message: 'no',
  serviceName: 'orders',
  serviceNamespace: '',
  host: 'node-3',
  labels: { region: 'eu', 'k8s.pod.uid': '7', constructor: 'x' },
  kubernetes: { cluster: '', namespace: '', node: '', pod: 'p', container: '', deployment: '' },
  traceId: '',
  spanId: '',
  traceFlags: 0,
  eventName: '',
  scope: { name: '', version: '' },
};

test('reads fields and labels by name', () => {
  assert.equal(fieldValue(log, 'serviceName'), 'orders');
  assert.equal(fieldValue(log, 'k8sPod'), 'p');
  assert.equal(fieldValue(log, 'label.k8s.pod.uid'), '7');
  assert.equal(fieldValue(log, 'label.constructor'), 'x');
  assert.equal(fieldValue(log, 'label.toString'), '');
  assert.equal(fieldValue(log, 'nothing'), '');
});

test('labels fields for display', () => {
  assert.equal(fieldTitle('serviceName'), 'Service');
  assert.equal(fieldTitle('label.region'), 'region');
});

test('lists all fields and labels of a log', () => {
  const { fields, labels } = fieldRows(log);
  assert.deepEqual(
    fields.map(({ name }) => name),
    ['severity', 'serviceName', 'host', 'streamId', 'k8sPod', 'receiverId'],
  );
  assert.deepEqual(
    labels.map(({ title }) => title),
    ['constructor', 'k8s.pod.uid', 'region'],
  );
});

test('knows which fields can be columns', () => {
  for (const name of ['host', 'label.a', 'traceId']) assert.ok(isColumnName(name), name);
  for (const name of ['', 'label.', 'toString', 'hosts']) assert.ok(!isColumnName(name), name);
});

test('offers filters for fields that queries can name', () => {
  assert.deepEqual(toFilter('host', 'a', false), { field: 'host', value: 'a', isExcluded: false });
  assert.equal(toFilter('message', 'a', false), undefined);
  assert.equal(toFilter('scope', 'a', false), undefined);
  assert.equal(toFilter('label.a:b', 'a', false)?.field, 'label.a:b');
});

test('finds label keys in a sample of many logs', () => {
  assert.deepEqual(labelKeysOf([log]), ['constructor', 'k8s.pod.uid', 'region']);
  assert.deepEqual(labelKeysOf(Array<Log>(10_000).fill(log)).length, 3);
});

test('maps severity numbers to tones', () => {
  const tones = [0, 1, 4, 5, 9, 12, 13, 17, 21, 24, 25].map(severityTone);
  const expected = 'none trace trace debug info info warn error fatal fatal none'.split(' ');
  assert.deepEqual(tones, expected);
});

test('adds nanoseconds to a time in milliseconds', () => {
  assert.equal(withNanos('08:30:00.123', '1775032200123456789'), '08:30:00.123456789');
});
