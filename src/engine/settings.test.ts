/** Settings are complete and bounded, and each query resets them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { engineDefaults } from './options.ts';
import {
  changesBetween,
  serverSettings,
  sessionSettings,
  setStatement,
  tableDefaults,
  toConfigXml,
  unsetValue,
} from './settings.ts';

test('syncs inserts', () => {
  assert.equal(tableDefaults.get('fsync_after_insert'), '1');
  assert.equal(tableDefaults.get('fsync_part_directory'), '1');
  for (const pool of ['insert', 'read', 'housekeeping'] as const) {
    assert.equal(sessionSettings(pool, engineDefaults).get('async_insert'), '0');
  }
});

test('only reads are read-only and limited in time', () => {
  assert.equal(sessionSettings('read', engineDefaults).get('readonly'), '2');
  assert.equal(sessionSettings('read', engineDefaults).get('max_execution_time'), '30');
  assert.equal(sessionSettings('insert', engineDefaults).get('readonly'), undefined);
});

test('only searches yield the CPU', () => {
  const niceOf = (pool: 'read' | 'brief' | 'insert') =>
    sessionSettings(pool, engineDefaults).get('os_threads_nice_value_query');
  assert.deepEqual(
    [niceOf('read'), niceOf('brief'), niceOf('insert')],
    ['10', undefined, undefined],
  );
});

test('caches stay below half of the memory', () => {
  const caches = [...serverSettings(engineDefaults)].filter(([name]) =>
    name.endsWith('cache_size'),
  );
  const total = caches.reduce((sum, [, bytes]) => sum + Number(bytes), 0);
  assert.ok(caches.length > 8 && total < engineDefaults.memoryBytes / 2, `${total}`);
});

test('the configuration file contains every setting', () => {
  const xml = toConfigXml(new Map([['a', '1']]), new Map([['b', '2']]));
  assert.match(xml, /<a>1<\/a>[\s\S]*<merge_tree>\s*<b>2<\/b>\s*<\/merge_tree>/);
});

test('writes each value of SET as one string literal', () => {
  const statement = setStatement(
    new Map([
      ['a', "x', b = '1"],
      ['c', '\\'],
      ['d', unsetValue],
    ]),
  );
  assert.equal(statement, "SET a = 'x\\x27, b = \\x271', c = '\\x5c', d = DEFAULT");
  assert.equal(setStatement(new Map()), undefined);
});

test('a session changes only settings that differ, and restores their defaults', () => {
  const defaults = new Map([['a', '1']]);
  const applied = new Map([
    ['a', '5'],
    ['b', '6'],
    ['c', '7'],
  ]);
  const wanted = new Map([
    ['c', '7'],
    ['d', '8'],
  ]);
  assert.deepEqual(
    [...changesBetween(applied, wanted, defaults)],
    [
      ['a', '1'],
      ['b', unsetValue],
      ['d', '8'],
    ],
  );
});
