/** The series table compared with a Map. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { SeriesTable } from './series-ledger.ts';

/** Few distinct words, so that ids are similar and their slots collide. */
const word = fc.constantFrom(0, 1, 2, 0xffff_ffff);
const anyIds = fc.tuple(word, word, word, word).map((words) => Uint32Array.from([7, ...words]));
const entry = fc.record({
  ids: anyIds,
  stream: fc.integer({ min: 1, max: 4 }),
  day: fc.nat(65_535),
});
type Entry = typeof entry extends fc.Arbitrary<infer T> ? T : never;

const keyOf = ({ ids, stream }: Entry) => `${stream}:${ids.join()}`;

test('agrees with a map', () => {
  const steps = fc.array(fc.tuple(fc.boolean(), entry), { maxLength: 600, size: 'max' });
  fc.assert(
    fc.property(fc.constantFrom(2, 64), steps, (capacity, taken) => {
      const table = new SeriesTable(capacity);
      const map = new Map<string, number>();
      for (const [isSet, one] of taken) {
        const { ids, stream, day } = one;
        assert.equal(table.dayOf(stream, ids, 1), map.get(keyOf(one)) ?? -1);
        if (!isSet) continue;
        assert.equal(table.set(stream, ids, 1, day), !map.has(keyOf(one)));
        map.set(keyOf(one), day);
        assert.equal(table.size, map.size);
      }
    }),
    { numRuns: 100 },
  );
});

test('grows and finds each entry', () => {
  const table = new SeriesTable(2);
  const count = 20_000;
  const all = Uint32Array.from({ length: 4 * count }, (_, index) => Math.imul(index, 0x9e3779b1));
  for (let series = 0; series < count; series += 1) table.set(1, all, 4 * series, series % 60_000);
  assert.equal(table.size, count);
  for (let series = 0; series < count; series += 1) {
    assert.equal(table.dayOf(1, all, 4 * series), series % 60_000);
    assert.equal(table.dayOf(2, all, 4 * series), -1);
  }
});

test('reports the number of new entries when added to another', () => {
  const entries = fc.array(entry, { maxLength: 60 });
  fc.assert(
    fc.property(entries, entries, (first, second) => {
      const map = new Map<string, number>();
      const table = new SeriesTable(2);
      for (const one of first) {
        table.set(one.stream, one.ids, 1, one.day);
        map.set(keyOf(one), one.day);
      }
      const added = new SeriesTable(64);
      for (const one of second) added.set(one.stream, one.ids, 1, one.day);
      const before = map.size;
      for (const one of second) map.set(keyOf(one), one.day);
      assert.equal(added.addTo(table), map.size - before);
      for (const one of [...first, ...second]) {
        assert.equal(table.dayOf(one.stream, one.ids, 1), map.get(keyOf(one)));
      }
    }),
  );
});
