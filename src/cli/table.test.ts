/** Formats records as text. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toLines, toTable } from './table.ts';

test('shows a list as a table of the chosen columns', () => {
  const records = [
    { streamId: 'a', name: 'checkout', retentionDays: 30, createdAt: null },
    { streamId: 'bb', name: 'cart', retentionDays: 7, createdAt: null },
  ];
  assert.equal(
    toTable(records, ['streamId', 'name', 'retentionDays']),
    'STREAM ID  NAME      RETENTION DAYS\na          checkout  30\nbb         cart      7\n',
  );
});

test('shows `none` for an empty list', () => {
  assert.equal(toTable([], ['name']), 'none\n');
});

test('shows a record as lines, nested fields by their path, absent ones as a dash', () => {
  const record = { name: 'web', limits: { burstEvents: null }, scopes: ['a', 'b'], cidrs: [] };
  assert.equal(
    toLines(record),
    [
      'name                web',
      'limits.burstEvents  -',
      'scopes              a, b',
      'cidrs               -',
      '',
    ].join('\n'),
  );
});

test('shows the lists of a record as tables below it', () => {
  const accounts = [
    { accountId: 'a', name: 'acme' },
    { accountId: 'b', name: 'wayne' },
  ];
  assert.equal(
    toLines({ tokenId: 't', accounts, scopes: ['logs:read'] }),
    [
      'tokenId  t',
      'scopes   logs:read',
      '',
      'ACCOUNTS',
      'ACCOUNT ID  NAME',
      'a           acme',
      'b           wayne',
      '',
    ].join('\n'),
  );
});

test('escapes line ends and control characters in values', () => {
  assert.equal(
    toLines({ name: 'a\nb\u001b[31m\u009b\u2028' }),
    'name  a\\u000ab\\u001b[31m\\u009b\\u2028\n',
  );
});
