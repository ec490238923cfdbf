/** Marks of the search in messages. */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { splitAtHits, toHits } from './search-hits.ts';

const marked = (search: string, text: string) =>
  splitAtHits(text, toHits(search))
    .map(({ text: part, isHit }) => (isHit ? `[${part}]` : part))
    .join('');

test('marks words and phrases in any case', () => {
  assert.equal(
    marked('time "reset by"', 'Timeout: connection RESET by peer'),
    '[Time]out: connection [RESET by] peer',
  );
  assert.equal(marked('"say \\"no\\""', 'say "no"'), '[say "no"]');
  assert.equal(marked('a.b "(x"', 'aXb a.b (X'), 'aXb [a.b] [(X]');
  assert.equal(
    marked('(time*out OR message:no) host:by', 'time is out by no'),
    '[time] is [out] by [no]',
  );
  assert.equal(marked('ÜBER', 'über'), '[über]');
  assert.equal(marked('time timeout', 'timeout'), '[timeout]');
});

test('does not mark what is excluded', () => {
  assert.equal(marked('-retry -"a b" order', 'retry order a b'), 'retry [order] a b');
  assert.equal(toHits('  -x ""'), undefined);
});

test('never fails, and keeps the text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (search, text) => {
      const parts = splitAtHits(text, toHits(search));
      assert.equal(parts.map((part) => part.text).join(''), text);
    }),
  );
});
