/** Plans of one log and of its context, and the search language. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Stream } from '../model/account.ts';
import { AppError } from '../model/errors.ts';
import { encodeLogId, maxTie } from '../model/log-id.ts';
import type { LogRecord } from '../model/plan.ts';
import { toOneLog } from './to-responses.ts';
import { parseSearch, planContext, planOneLog } from './plan.ts';

const cases: readonly (readonly [string, readonly string[]])[] = [
  ['', []],
  ['  \t\n ', []],
  ['one', ['one']],
  ['one  two', ['one', 'two']],
  ['-one two', ['!one', 'two']],
  ['"one two" three', ['one two', 'three']],
  ['-"one two"', ['!one two']],
  ['"-one"', ['-one']],
  ['"open to the end ', ['open to the end ']],
  ['-"open', ['!open']],
  ['""', []],
  ['-""', []],
  ['-', ['-']],
  ['--x', ['!-x']],
  ['it"s "a b"c', ['it"s', 'a b', 'c']],
  ['a:b=c/100%', ['a:b=c/100%']],
  ['System("ls -al /")', ['System("ls -al /")']],
  ['{"status": 500, "path":"/a b"}', ['{"status":', '500,', 'path', ':"/a b"}']],
  ['say(\\"hi there\\") now', ['say(\\"hi there\\")', 'now']],
  ['5" "disk error" 3("', ['5"', 'disk error', '3("']],
  ['"\\"status\\": 500"', ['"status": 500']],
  ['"C:\\temp\\\\" x', ['C:\\temp\\', 'x']],
  ['"open \\', ['open \\']],
];
for (const [text, terms] of cases) {
  test(JSON.stringify(text), () => {
    const found = parseSearch(text).map((term) => (term.exclude ? '!' : '') + term.text);
    assert.deepEqual(found, terms);
  });
}

test('parses any text without backslashes into substrings of it', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (random) => {
      const text = random.replaceAll('\\', '/');
      for (const term of parseSearch(text)) {
        assert.notEqual(term.text, '');
        assert.ok(text.includes(term.text));
      }
    }),
  );
});

test('finds any message in quotes, with its quotes and backslashes escaped', () => {
  const message = fc.string({ unit: fc.constantFrom('"', '\\', ' ', '-', 'a', '(', '\n') });
  fc.assert(
    fc.property(message, (text) => {
      const quoted = `"${text.replace(/["\\]/g, '\\$&')}"`;
      const terms = text === '' ? [] : [{ text, exclude: false }];
      assert.deepEqual(parseSearch(quoted), terms);
    }),
  );
});

test('splits words at any white space, in order', () => {
  const word = fc.stringMatching(/^[^\s"-][^\s"]{0,8}$/);
  fc.assert(
    fc.property(fc.array(word), fc.constantFrom(' ', '\t', '  ', '\n'), (words, gap) => {
      assert.deepEqual(
        parseSearch(words.join(gap)).map(({ text }) => text),
        words,
      );
    }),
  );
});

const streams = ['a', 'b'].map((streamId) => ({
  streamId,
  accountId: 'acme',
  name: streamId,
  retentionDays: 30,
  downsampling: null,
  dataDeletedUntil: null,
  createdAt: '',
})) satisfies Stream[];
const context = { accountId: 'acme', streams, nowMs: Date.parse('2026-04-01T00:00:00Z') };

const position = { timeNanos: 1_775_000_000_000_000_007n, tie: 42n };
const log = {
  logId: encodeLogId(position),
  streamId: 'b',
  host: '',
  serviceName: 'orders',
  serviceNamespace: 'shop',
} as LogRecord;

const asked = { streamId: undefined, before: 3, after: 5, same: undefined };

test('reads one log in its own nanosecond only', () => {
  const plan = planOneLog(context, position, ['b']);
  assert.equal(plan.filter.fromNanos, position.timeNanos);
  assert.equal(plan.filter.untilNanos, position.timeNanos + 1n);
  assert.deepEqual(plan.position, { timeNanos: position.timeNanos, tie: 43n });
  assert.deepEqual(
    plan.filter.streams.map(({ streamId }) => streamId),
    ['b'],
  );
  assert.equal(
    planOneLog(context, { ...position, tie: maxTie }, undefined).position?.tie,
    maxTie + 1n,
  );
});

test('does not return an adjacent log instead', () => {
  const neighbour = { ...log, logId: encodeLogId({ ...position, tie: 41n }) };
  assert.equal(toOneLog(position, [log]), log);
  for (const logs of [[neighbour], []]) {
    assert.throws(
      () => toOneLog(position, logs),
      (error) => error instanceof AppError && error.code === 'not_found',
    );
  }
});

test('reads the context from the same stream, on both sides of the position', () => {
  const { newer, older } = planContext(context, { log, position }, asked);
  for (const plan of [newer, older]) {
    assert.equal(plan.position, position);
    assert.deepEqual(
      plan.filter.streams.map(({ streamId }) => streamId),
      ['b'],
    );
    assert.equal(plan.filter.equal.size, 0);
    assert.equal(plan.untilWatermarkNanos, undefined);
  }
  assert.deepEqual([newer.direction, newer.limit], ['newer', 5]);
  assert.deepEqual([older.direction, older.limit], ['older', 3]);
});

test('filters the context by an empty host and by service with namespace', () => {
  const query = { ...asked, same: ['host', 'service'] as const };
  const { older } = planContext(context, { log, position }, { ...query, same: [...query.same] });
  assert.deepEqual(
    [...older.filter.equal],
    [
      ['serviceName', ['orders']],
      ['host', ['']],
      ['serviceNamespace', ['shop']],
    ],
  );
});
