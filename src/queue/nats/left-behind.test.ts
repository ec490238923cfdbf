/** What tells a message that was left behind from one that is just being removed. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { LeftBehind } from './left-behind.ts';

suite('messages left behind', () => {
  test('are those that stay in the stream below all that is needed', () => {
    const behind = new LeftBehind();
    assert.deepEqual(
      [5, 5, 5].map((first) => behind.isSeen(first, 9)),
      [false, false, true],
    );
  });

  test('are not those that go in between, that are needed, or that are to come', () => {
    const behind = new LeftBehind();
    assert.deepEqual(
      [5, 5, 6, 6, 7].map((first) => behind.isSeen(first, 9)),
      Array(5).fill(false),
    );
    assert.deepEqual(
      [9, 9, 9, 9].map((first) => behind.isSeen(first, 9)),
      Array(4).fill(false),
    );
    assert.deepEqual(
      [10, 10, 10].map((first) => behind.isSeen(first, 9)),
      Array(3).fill(false),
    );
  });

  test('are noticed less and less often where nothing helps', () => {
    const behind = new LeftBehind();
    const looks = Array.from({ length: 400 }, () => behind.isSeen(1, 2));
    const seen = looks.flatMap((isSeen, index) => (isSeen ? [index + 1] : []));
    assert.deepEqual(seen, [3, 9, 21, 45, 93, 189, 289, 389]);
    assert.deepEqual(
      [2, 2, 2].map((first) => behind.isSeen(first, 3)),
      [false, false, true],
    );
  });
});
