/** Facet values shown in the sidebar. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { facetRows, isTelling } from './facet-fields.ts';

const values = [
  { value: 'INFO', count: 3 },
  { value: '', count: 1 },
];

test('keeps filtered values visible', () => {
  const filters = [
    { field: 'severity', value: 'info', isExcluded: false },
    { field: 'severity', value: 'DEBUG', isExcluded: true },
    { field: 'host', value: 'a', isExcluded: true },
  ] as const;
  assert.deepEqual(facetRows({ values }, 'severity', filters), [
    { value: 'INFO', count: 3, state: 'included' },
    { value: '', count: 1, state: 'plain' },
    { value: 'DEBUG', count: 0, state: 'excluded' },
  ]);
});

test('a severity is filtered by any word of its level', () => {
  const filters = [{ field: 'severity', value: 'WARNING', isExcluded: false }] as const;
  const warnings = [{ value: 'WARN', count: 2 }];
  assert.deepEqual(facetRows({ values: warnings }, 'severity', filters), [
    { value: 'WARN', count: 2, state: 'included' },
  ]);
});

test('ignores case for severities only', () => {
  const filters = [{ field: 'host', value: 'info', isExcluded: false }] as const;
  assert.equal(facetRows({ values }, 'host', filters)[0]!.state, 'plain');
});

test('hides a field without values, unless it is filtered', () => {
  const none = [{ value: '', count: 9 }];
  assert.ok(!isTelling(facetRows({ values: none }, 'host', [])));
  assert.ok(!isTelling(facetRows({ values: [] }, 'host', [])));
  const filters = [{ field: 'host', value: '', isExcluded: true }] as const;
  assert.ok(isTelling(facetRows({ values: none }, 'host', filters)));
});
