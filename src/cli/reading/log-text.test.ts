/** Formats logs as text. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { fakeLog } from '../../../test/cli/fake-log.ts';
import { createStyle } from '../terminal.ts';
import { createLogText, findField, type LogTextOptions } from './log-text.ts';

const plain: LogTextOptions = {
  style: createStyle({}, false),
  zone: 'utc',
  fields: undefined,
  labels: 'hidden',
  cutAtColumns: undefined,
  layout: 'aligned',
};
const time = '2026-11-21 08:30:00.123Z';

const cases: readonly [string, Parameters<typeof fakeLog>, string][] = [
  ['one line', ['hello'], 'hello'],
  ['an empty message', [''], ''],
  ['further lines', ['a\r\nb\n\nc'], 'a\n    b\n    \n    c'],
  ['a last line feed', ['a\n'], 'a'],
  ['tabs and escapes', ['a\tb\u001b[31m'], 'a\tb\\u001b[31m'],
  ['a lone return, which would overwrite the line', ['a\rb'], 'a\\u000db'],
];
for (const [what, log, expected] of cases) {
  test(`shows a message of ${what}`, () => {
    const text = createLogText(plain)([fakeLog(...log)]);
    assert.equal(text, `${time} INFO  orders ${expected}\n`);
  });
}

test('widens columns to the values shown so far', () => {
  const text = createLogText(plain);
  text([fakeLog('a', { severity: 'WARNING', serviceName: 'long-name' })]);
  assert.equal(text([fakeLog('b')]), `${time} INFO    orders    b\n`);
  const anonymous = fakeLog('c', { severity: '', serviceName: '' });
  assert.equal(text([anonymous]), `${time} -       -         c\n`);
});

test('quotes ambiguous labels', () => {
  const labels = { a: 'b', 'c d': 'e f', g: '', h: 'i=j' };
  const text = createLogText({ ...plain, labels: 'shown' })([fakeLog('x', { labels })]);
  assert.equal(text, `${time} INFO  orders x a=b c d="e f" g="" h="i=j"\n`);
});

test('aligns chosen columns, or separates them by tabs', () => {
  const fields = ['host', 'label.k', 'message'].map((name) => findField(name)!);
  const logs = [fakeLog('a\tb', { labels: { k: 'long value' } }), fakeLog('c')];
  const aligned = createLogText({ ...plain, fields })(logs);
  assert.equal(aligned, 'node-3  long value  a\\u0009b\nnode-3  -           c\n');
  const tabs = createLogText({ ...plain, fields, layout: 'tabs' })(logs);
  assert.equal(tabs, 'node-3\tlong value\ta\\u0009b\nnode-3\t-\tc\n');
});

test('finds only fields of a log', () => {
  assert.equal(findField('colour'), undefined);
  assert.equal(findField('label.'), undefined);
  assert.equal(
    findField('customer.id')!({ ...fakeLog('x'), labels: { 'customer.id': '7' } }, 'utc'),
    '7',
  );
  assert.equal(findField('toString'), undefined);
  assert.equal(findField('label.toString')!(fakeLog('x'), 'utc'), '');
});

test('cuts a long message after six lines and reports the rest', () => {
  const cut = createLogText({ ...plain, cutAtColumns: 10 });
  const one = cut([fakeLog('x'.repeat(100))]);
  assert.ok(one.endsWith(` ${'x'.repeat(60)} … 40 more characters, see --full\n`));
  const many = cut([fakeLog('a\n'.repeat(10))]);
  assert.match(many, /^\S+ \S+ INFO {2}orders a\n( {4}a\n){4} {4}a … 8 more characters/);
  const pair = cut([fakeLog(`${'x'.repeat(59)}🌊`)]);
  assert.match(pair, /x … 2 more characters/);
  assert.ok(cut([fakeLog('x'.repeat(60))]).endsWith('x\n'));
});

test('indents all lines of a log but the first, for any log', () => {
  const text = fc.string({ unit: 'binary' });
  const cutAtColumns = fc.constantFrom(undefined, 20);
  fc.assert(
    fc.property(text, text, text, cutAtColumns, (message, severity, value, columns) => {
      const log = fakeLog(message, { severity, serviceName: value, labels: { [value]: value } });
      const options = { ...plain, labels: 'shown', cutAtColumns: columns } as const;
      const [first, ...others] = createLogText(options)([log]).trimEnd().split('\n');
      assert.ok(first?.startsWith(time));
      assert.ok(others.every((line) => line.startsWith('    ')));
      assert.doesNotMatch([first, ...others].join(''), /[\p{Cf}\p{Zl}\p{Zp}]|[^\P{Cc}\t]/u);
    }),
  );
});
