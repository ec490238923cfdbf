/** Hints for queries that find nothing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hintsOf } from './query-hints.ts';

const cases: readonly (readonly [text: string, ...meant: string[]])[] = [
  ['timeout service:a -b "a=b c"'],
  ['status=500 host==a', 'status:500', 'host:a'],
  ['a or b or c', 'OR'],
  ['x status >= 500 user: a', 'status:>=500', 'user:a'],
  ['status != 500 a = b', '-status:500', 'a:b'],
  ['(!ok +service:a) OR x', '-ok', 'service:a'],
  ['severity:error|warn', 'severity:(error OR warn)'],
  ['path:/a|b/ url:a|/b'],
  ['status:('],
];
for (const [text, ...meant] of cases) {
  test(text, () =>
    assert.deepEqual(
      hintsOf(text).map((hint) => hint.meant),
      meant,
    ),
  );
}
