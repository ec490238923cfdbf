/** Families of metrics, and what is usually asked of them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { printBuilt } from '../build/built-query.ts';
import { defaultQueryOf, searchFamilies, toFamilies } from './metric-families.ts';

const names = [
  'level',
  'rpc_seconds_bucket',
  'rpc_seconds_count',
  'rpc_seconds_sum',
  'turns_total',
  'items_count',
  'sizes_bytes',
];
const entry = (type: string, help = '', unit = '') => [{ type, help, unit }];

test('the parts of a histogram are one family with the unit of its name', () => {
  const families = toFamilies(names, { rpc_seconds: entry('histogram', 'Time of calls') });
  assert.deepEqual(
    families.map(({ name, type, unit, metric }) => [name, type, unit, metric]),
    [
      ['level', 'unknown', '', 'level'],
      ['rpc_seconds', 'histogram', 'seconds', 'rpc_seconds_bucket'],
      ['turns_total', 'counter', '', 'turns_total'],
      ['items_count', 'counter', '', 'items_count'],
      ['sizes_bytes', 'unknown', 'bytes', 'sizes_bytes'],
    ],
  );
  assert.equal(families[1]?.help, 'Time of calls');
});

test('metadata without the suffix of a counter belongs to it', () => {
  const [family] = toFamilies(['turns_total'], { turns: entry('counter', 'Turns of the wheel') });
  assert.deepEqual([family?.name, family?.help], ['turns_total', 'Turns of the wheel']);
});

test('the usual query depends on the type', () => {
  const textOf = (...args: Parameters<typeof defaultQueryOf>) =>
    printBuilt(defaultQueryOf(...args));
  assert.equal(textOf('level', 'gauge'), 'level');
  assert.equal(textOf('turns', 'counter'), 'rate(turns[5m])');
  assert.equal(textOf('turns_total', undefined), 'rate(turns_total[5m])');
  assert.equal(
    textOf('rpc_seconds_bucket', 'histogram'),
    'histogram_quantile(0.95, sum by (le) (rate(rpc_seconds_bucket[5m])))',
  );
  assert.equal(textOf('rpc', 'histogram'), 'histogram_quantile(0.95, sum(rate(rpc[5m])))');
  assert.equal(textOf('rpc_count', 'histogram'), 'rate(rpc_count[5m])');
});

test('the search looks at names, descriptions, types and units', () => {
  const families = toFamilies(names, { level: entry('gauge', 'Water above the sill') });
  const found = (text: string) => searchFamilies(families, text).map(({ name }) => name);
  assert.deepEqual(found('water GAUGE'), ['level']);
  assert.deepEqual(found('seconds'), ['rpc_seconds']);
  assert.deepEqual(found('nothing like it'), []);
});
