/** Checks CSV with a parser that implements only RFC 4180. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { readCsv } from '../../test/harness/csv.ts';
import type { LogRecord } from '../model/plan.ts';
import { exportWriters } from './export-formats.ts';

const record: LogRecord = {
  logId: '0199',
  timestamp: '2026-04-01T08:30:00.123Z',
  timestampNanos: '1775032200123456789',
  observedTimestamp: '2026-04-01T08:30:00.124Z',
  receivedAt: '2026-04-01T08:30:00.125Z',
  streamId: 's',
  receiverId: 'r',
  severity: 'INFO',
  severityNumber: 9,
  message: 'm',
  serviceName: 'orders',
  serviceNamespace: 'shop',
  host: 'node-1',
  labels: { a: '1', ['__proto__']: 'x' },
  kubernetes: {
    cluster: 'c',
    namespace: 'n',
    node: 'no',
    pod: 'p',
    container: 'co',
    deployment: 'd',
  },
  traceId: 't',
  spanId: 'sp',
  traceFlags: 1,
  eventName: 'e',
  scope: { name: 'sc', version: '1' },
};

const { csv } = exportWriters;

function readOne(change: Partial<LogRecord>): Record<string, string> {
  const [names = [], cells = []] = readCsv(csv.header + csv.toLine({ ...record, ...change }));
  assert.equal(cells.length, names.length);
  return Object.fromEntries(names.map((name, i) => [name, cells[i]!]));
}

test('writes each field to its column', () => {
  assert.deepEqual(Object.values(readOne({})), [
    '2026-04-01T08:30:00.123456789Z',
    'INFO',
    'orders',
    'shop',
    'node-1',
    'm',
    '{"a":"1","__proto__":"x"}',
    't',
    'sp',
    'c',
    'n',
    'no',
    'p',
    'co',
    'd',
    'e',
    'sc',
    's',
    'r',
    '0199',
    '2026-04-01T08:30:00.125Z',
  ]);
});

test('writes exact nanoseconds from 1970 on', () => {
  assert.equal(readOne({ timestampNanos: '0' })['timestamp'], '1970-01-01T00:00:00.000000000Z');
  assert.equal(readOne({ timestampNanos: '7' })['timestamp'], '1970-01-01T00:00:00.000000007Z');
  const late = readOne({ timestampNanos: '5662310399999999999' })['timestamp'];
  assert.equal(late, '2149-06-06T23:59:59.999999999Z');
});

const text = fc.string({
  unit: fc.oneof(
    fc.constantFrom(
      '"',
      ',',
      '\r',
      '\n',
      '\r\n',
      '\0',
      "'",
      '=',
      '+',
      '-',
      '@',
      '\t',
      '\u202e',
      ';',
    ),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 3 }),
  ),
});

test('a CSV reader gets every text back', () => {
  fc.assert(
    fc.property(text, text, fc.dictionary(text, text), (message, host, labels) => {
      const read = readOne({ message, host, labels });
      assert.equal(unguarded(read['message']!, message), message);
      assert.equal(unguarded(read['host']!, host), host);
      assert.equal(read['labels'], JSON.stringify(labels));
    }),
  );
});

suite('a cell that a spreadsheet would run as a formula', () => {
  for (const message of ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '\n=1', '＝1', '＠a']) {
    test(`${JSON.stringify(message)} gets an apostrophe`, () => {
      assert.equal(readOne({ message })['message'], `'${message}`);
    });
  }

  test('no cell begins like a formula', () => {
    fc.assert(
      fc.property(text, text, (message, serviceName) => {
        for (const cell of Object.values(readOne({ message, serviceName }))) {
          assert.doesNotMatch(cell, /^[=+\-@\t\r\n]/);
        }
      }),
    );
  });
});

function unguarded(cell: string, sent: string): string {
  return cell === `'${sent}` ? sent : cell;
}
