/** Rule files that the explorer writes, and their faults. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readRuleFile } from '../../../src/rules/rule-file.ts';
import { ruleOfMetrics, ruleOfSearch, toRuleFaults } from './rule-text.ts';

const options = { checkLogs: () => undefined };

test('a rule of a search is accepted, whatever the search says', () => {
  for (const query of [
    '',
    'service:"a b" -x',
    `'"\\ {{ $value }} : #`,
    'ä\u2028\n\t',
    '*'.repeat(300),
  ]) {
    const [group] = readRuleFile(ruleOfSearch(query), options);
    assert.equal(group?.rules[0]?.query.type, 'logs');
    assert.equal((group.rules[0].query as { query: string }).query, query.trim());
  }
});

test('a rule of metrics is accepted', () => {
  for (const expr of ['', 'sum by (job) (rate(a{b="c"}[5m])) > 1']) {
    const [group] = readRuleFile(ruleOfMetrics(expr), options);
    assert.deepEqual(group?.rules[0]?.query, { type: 'prometheus', expr: expr || 'up == 0' });
  }
});

test('each fault has its place in the text', () => {
  const text = 'groups:\n- name: a\n  rules:\n  - alert: A\n    expr: sum(\n    for: soon\n';
  const message =
    'cannot accept the rules:\n5:11: expr: 1:5: parse error: x\n6:10: for: must be; y';
  assert.deepEqual(toRuleFaults(text, new Error(message)), [
    { position: text.indexOf('sum('), message: 'line 5: expr: 1:5: parse error: x' },
    { position: text.indexOf('soon'), message: 'line 6: for: must be; y' },
  ]);
  assert.deepEqual(toRuleFaults(text, new Error('cannot reach Weir')), [
    { position: undefined, message: 'cannot reach Weir' },
  ]);
});
