/** Series are found by id and by labels. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { createRandom } from '../../../test/harness/random.ts';
import type { LabelMatcher } from '../../model/metric-plan.ts';
import { SeriesIndex } from './series-index.ts';

const matcher = (name: string, type: LabelMatcher['type'], value: string): LabelMatcher => ({
  name,
  type,
  value,
});

test('finds each of many series by id, also while they are added and sorted', () => {
  const random = createRandom(3);
  const index = new SeriesIndex();
  // Few different low words, so that places collide.
  const ids = Array.from({ length: 3_000 }, (_, i) =>
    Uint32Array.of(random.integer(0, 50), i, random.integer(0, 9), 7),
  );
  for (const [i, id] of ids.entries()) {
    const labels = [['__name__', `m${(i * 7919) % 3_000}`]] as const;
    assert.equal(index.byId(id, 0), undefined);
    const series = index.add(id, labels, [1]);
    assert.equal(index.byId(id, 0), series);
    if (i % 500 === 0) index.find([], 1, 1);
  }
  assert.equal(index.size, ids.length);
  const all = new Uint32Array(ids.flatMap((id) => [...id]));
  for (const [i, id] of ids.entries()) assert.equal(index.byId(all, 4 * i)?.id, id);
  const names = index.find([], 1, 1).map(({ labels }) => labels[0]![1]);
  assert.deepEqual(names, [...names].sort());
});

suite('selectors', () => {
  const index = new SeriesIndex();
  const add = (number: number, labels: Record<string, string>, days: readonly number[]) =>
    index.add(Uint32Array.of(number, 0, 0, 0), Object.entries(labels), days);
  add(1, { __name__: 'up', job: 'web' }, [10]);
  add(2, { __name__: 'up', job: 'db' }, [10, 11]);
  add(3, { __name__: 'down' }, [11]);
  const cases = [
    ['every series', [], [10, 11], [3, 2, 1]],
    ['days', [], [11, 12], [3, 2]],
    ['a metric', [[matcher('__name__', 'equal', 'up')]], [10, 11], [2, 1]],
    ['an unknown metric', [[matcher('__name__', 'equal', 'x')]], [10, 11], []],
    ['a whole pattern', [[matcher('job', 'matches', 'w.')]], [10, 11], []],
    ['a pattern', [[matcher('job', 'matches', 'w.*|db')]], [10, 11], [2, 1]],
    ['an absent label', [[matcher('job', 'equal', '')]], [10, 11], [3]],
    ['an absent label by a pattern', [[matcher('job', 'notMatches', '.+')]], [10, 11], [3]],
    [
      'all of a selector',
      [[matcher('job', 'notEqual', 'db'), matcher('__name__', 'equal', 'up')]],
      [10, 11],
      [1],
    ],
    [
      'any selector',
      [[matcher('job', 'equal', 'db')], [matcher('__name__', 'equal', 'down')]],
      [10, 11],
      [3, 2],
    ],
  ] as const;
  for (const [name, selectors, [from, until], expected] of cases) {
    test(name, () => {
      const found = index.find(selectors, from, until).map(({ id }) => id[0]);
      assert.deepEqual(found, expected);
    });
  }

  test('a series that is added again keeps its samples and has both days', () => {
    const again = add(3, { __name__: 'down' }, [12]);
    assert.deepEqual([...again.days], [11, 12]);
    assert.equal(index.size, 3);
  });

  test('what was found before is found with what was added since', () => {
    const anyJob = [[matcher('job', 'matches', '.+')]];
    const found = () => index.find(anyJob, 20, 20).map(({ id }) => id[0]);
    assert.deepEqual(found(), []);
    add(1, { __name__: 'up', job: 'web' }, [20]);
    assert.deepEqual(found(), [1]);
    add(4, { __name__: 'up', job: 'api' }, [20]);
    assert.deepEqual(found(), [4, 1]);
  });
});
