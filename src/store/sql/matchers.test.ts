/** Matchers as conditions, and that no value ever becomes part of the SQL. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { LabelMatcher, Selector } from '../../model/metric-plan.ts';
import { selectorsCondition } from './matchers.ts';
import { Parameters } from './statement.ts';

function compiled(...selectors: Selector[]): { conditions: string[]; values: string[] } {
  const params = new Parameters();
  const conditions = selectorsCondition(selectors, params);
  return { conditions, values: Object.values(params.values) };
}

const a: LabelMatcher = { name: 'a', type: 'equal', value: '1' };

suite('selectors', () => {
  test('none, or one without matchers, means every series', () => {
    assert.deepEqual(compiled().conditions, []);
    assert.deepEqual(compiled([a], []).conditions, []);
  });

  test('matchers are joined by AND, selectors by OR', () => {
    const name: LabelMatcher = { name: '__name__', type: 'notEqual', value: 'up' };
    assert.deepEqual(compiled([a, name], [a]), {
      conditions: [
        '((Labels[{p0:String}] = {p1:String} AND MetricName != {p2:String})' +
          ' OR (Labels[{p3:String}] = {p4:String}))',
      ],
      values: ['a', '1', 'up', 'a', '1'],
    });
  });

  test('a pattern meets the whole value, and is one by itself', () => {
    const pattern = "it's|\\d{2}";
    for (const [type, before] of [
      ['matches', ''],
      ['notMatches', 'NOT ('],
    ] as const) {
      const { conditions, values } = compiled([{ name: '__name__', type, value: pattern }]);
      assert.equal(
        conditions[0],
        `${before}match(MetricName, {p0:String})` +
          ` AND replaceRegexpOne('', {p1:String}, '') = ''${before && ')'}`,
      );
      assert.deepEqual(values, [`^(?s:${pattern})$`, pattern]);
    }
  });
});
