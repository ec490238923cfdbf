/** Severity words and their families. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { groupByFamily, severityFamily } from './severity-family.ts';

test('maps severity words to families', () => {
  const cases = {
    INFO: 'info',
    info: 'info',
    WARNING: 'warn',
    ERROR3: 'error',
    CRITICAL: 'error',
    EMERG: 'fatal',
    VERBOSE: 'trace',
    '': 'other',
    OTHER: 'other',
    LOUD: 'other',
    CONSTRUCTOR: 'other',
  };
  for (const [word, family] of Object.entries(cases)) assert.equal(severityFamily(word), family);
  assert.equal(severityFamily('__proto__'), 'other');
});

test('groups buckets by family, most severe first', () => {
  const buckets = [{ groups: { INFO: 2, NOTICE: 1 } }, {}, { groups: { ERR: 4, '': 1 } }];
  assert.deepEqual(groupByFamily(buckets), [
    { family: 'error', values: [0, 0, 4], total: 4 },
    { family: 'info', values: [3, 0, 0], total: 3 },
    { family: 'other', values: [0, 0, 1], total: 1 },
  ]);
});

test('counts words that are not listed as other ones', () => {
  assert.deepEqual(groupByFamily([{ groups: { ERROR: 1, own: 2 }, other: 3 }, { other: 4 }]), [
    { family: 'error', values: [1, 0], total: 1 },
    { family: 'other', values: [5, 4], total: 9 },
  ]);
});
