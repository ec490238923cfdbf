/** The query as terms: values added, removed and inverted keep the rest of the text. */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import {
  faultOf,
  type Filter,
  inverted,
  isSameValue,
  printTerms,
  searchedTexts,
  termsOf,
  withCondition,
  withFilter,
  withoutField,
  withoutFilter,
} from './terms.ts';

const service = (value: string, isExcluded = false): Filter => {
  return { field: 'serviceName', value, isExcluded };
};

test('finds the values that all logs have or lack', () => {
  const filters = (text: string) =>
    termsOf(text).map((term) =>
      term.filters.map(
        ({ field, value, isExcluded }) => `${isExcluded ? '-' : ''}${field}:${value}`,
      ),
    );
  assert.deepEqual(filters('timeout service:a -label.host:b status:>=500'), [
    [],
    ['serviceName:a'],
    ['-label.host:b'],
    [],
  ]);
  assert.deepEqual(filters('severity:(ERROR OR warn) -host:(a OR b)'), [
    ['severity:ERROR', 'severity:warn'],
    ['-host:a', '-host:b'],
  ]);
  assert.deepEqual(filters('service:a OR host:b'), [[]]);
  assert.deepEqual(filters('host:(a -b)'), [['host:a'], ['-host:b']]);
  assert.deepEqual(filters('host:a* message:b host:*'), [[], [], []]);
  assert.deepEqual(filters('host:('), []);
});

test('adds values: of one field they are alternatives', () => {
  assert.equal(withFilter('', service('a')), 'service:a');
  assert.equal(withFilter('x OR y', service('a')), '(x OR y) service:a');
  assert.equal(withFilter('service:a x', service('b')), 'service:(a OR b) x');
  assert.equal(withFilter('service:a x', service('b', true)), 'service:a x -service:b');
  assert.equal(withFilter('-service:a x', service('a')), 'x service:a');
  assert.equal(withFilter('service:(a OR b)', service('a', true)), 'service:b -service:a');
  const host = { field: 'label.host', value: 'a b', isExcluded: false };
  assert.equal(withFilter('', host), 'label.host:"a b"');
  assert.equal(withFilter('', { ...host, field: 'label.a:b', value: '' }), '"a:b":""');
});

test('removes values', () => {
  assert.equal(withoutFilter('service:(a OR b) x', service('a')), 'service:b x');
  assert.equal(withoutFilter('-service:a', service('a')), '');
  assert.equal(withoutField('service:a -service:b x', 'serviceName'), '-service:b x');
  const error = { field: 'severity', value: 'ERROR', isExcluded: false };
  assert.equal(withoutFilter('severity:error x', error), 'x');
  assert.ok(!isSameValue('host', 'a', 'A'));
  assert.ok(isSameValue('severity', 'WARNING', 'warn'));
  assert.ok(!isSameValue('severity', 'audit', 'warn'));
});

test('adds a condition', () => {
  assert.equal(withCondition('a', 'b c', false), 'a (b c)');
  assert.equal(withCondition('', 'b message:/^x/', true), '-(b message:/^x/)');
  assert.equal(withCondition('a', '(', false), 'a');
});

test('inverts a term', () => {
  const [first, second] = termsOf('severity:(A OR B) -x:>5');
  assert.equal(printTerms([inverted(first!), inverted(second!)]), '-severity:(A OR B) x:>5');
});

test('finds the words that messages contain', () => {
  const text = 'a "b c" -d (e OR message:f*g) host:h NOT (i j)';
  assert.deepEqual(searchedTexts(text), ['a', 'b c', 'e', 'f', 'g']);
});

test('what is added is found and can be removed, from any readable query', () => {
  const text = fc
    .string({ unit: 'binary', maxLength: 10 })
    .map((written) => written.toWellFormed());
  const base = fc.constantFrom('', 'x', 'a OR b', '-service:z', 'service:(p OR q)', '(k:v)');
  fc.assert(
    fc.property(
      base,
      fc.constantFrom('host', 'serviceName', 'label.k', 'label.host'),
      text,
      (...made) => {
        const [before, field, value] = made;
        for (const isExcluded of [false, true]) {
          const added = withFilter(before, { field, value, isExcluded });
          assert.equal(faultOf(added), undefined, added);
          const found = termsOf(added)
            .flatMap(({ filters }) => filters)
            .filter((one) => one.field === field && one.value === value);
          assert.deepEqual(found, [{ field, value, isExcluded }], added);
          const removed = withoutFilter(added, found[0]!);
          assert.deepEqual(withoutFilter(removed, found[0]!), removed);
        }
      },
    ),
  );
});
