/** Which parts a new part was made of, and how often parts are listed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LogPartRow } from '../sql/part-counts.ts';
import { createPartList, sourcesOf } from './part-list.ts';
import { unknownChanges } from './table-changes.ts';

const before: LogPartRow[] = [
  ['20260301_1_4_1', '900', 60],
  ['20260301_6_6_0', '100', 60],
  ['20260302_7_7_0', '50', 60],
];

/** Name and rows of a new part, and the names of its sources. */
const known: [name: string, rows: string, sources: string[]][] = [
  ['20260301_1_4_1_8', '900', ['20260301_1_4_1']],
  ['20260301_1_6_2', '1000', ['20260301_1_4_1', '20260301_6_6_0']],
  ['20260301_1_6_2_9', '1000', ['20260301_1_4_1', '20260301_6_6_0']],
];

for (const [name, rows, sources] of known) {
  test(`${name} has the rows of ${sources.join(' and ')}`, () => {
    const found = sourcesOf([name, rows, 0], before);
    assert.deepEqual(
      found.map(([source]) => source),
      sources,
    );
  });
}

const unknown: [why: string, name: string, rows: string][] = [
  ['a deletion took rows', '20260301_1_4_1_8', '899'],
  ['its last block is not listed', '20260301_1_9_2', '1000'],
  ['its first block is not listed', '20260301_0_6_2', '1000'],
  ['it is of another day', '20260303_1_6_2', '1000'],
  ['its block is new', '20260301_8_8_0', '10'],
];

for (const [why, name, rows] of unknown) {
  test(`the rows of a part are not known when ${why}`, () => {
    assert.deepEqual(sourcesOf([name, rows, 0], before), []);
  });
}

test('lists in the background at the same time are one', async () => {
  const answers: PromiseWithResolvers<LogPartRow[]>[] = [];
  const read = () => {
    const answer = Promise.withResolvers<LogPartRow[]>();
    answers.push(answer);
    return answer.promise;
  };
  const parts = createPartList(read, unknownChanges, 0);
  const listed = () => new Promise((resolve) => parts.inBackground('a', resolve));
  const both = [listed(), listed()];
  assert.equal(answers.length, 1);
  answers[0]!.resolve(before);
  assert.deepEqual(await Promise.all(both), [before, before]);
  void listed();
  assert.equal(answers.length, 2);
});
