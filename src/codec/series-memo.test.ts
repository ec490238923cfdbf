/** The series memo compared with a Map: it may forget a series but never returns a wrong one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Series, toSeries } from './series-labels.ts';
import type { Label } from '../model/metric-plan.ts';
import { SeriesMemo } from './series-memo.ts';

const roomy = { maxBytes: 1e9, maxSeries: 1e6 };

function toRaw(number: number): Buffer {
  return Buffer.from(`raw labels of series ${number}`);
}

function toLabelsOf(number: number): Label[] {
  return [
    ['__name__', 'up'],
    ['number', String(number)],
  ];
}

/** Looks series up like a decoder: predicted successor, then hash table, then `add`. */
function lookUp(memo: SeriesMemo, raw: Buffer, toNew: () => Series) {
  const next = memo.next(toView(raw), 0, raw.length);
  if (next >= 0 && memo.rawBytesOf(next) === raw.length) return { number: next, isNew: false };
  const found = memo.find(raw, 0, raw.length);
  if (found >= 0) return { number: found, isNew: false };
  return { number: memo.add(raw, 0, raw.length, toNew()), isNew: true };
}

function toView(raw: Buffer): DataView {
  return new DataView(raw.buffer, raw.byteOffset, raw.length);
}

function seriesAt(memo: SeriesMemo, number: number): Series {
  return { id: memo.ids.slice(4 * number, 4 * number + 4), labels: memo.labelsOf(number) };
}

function sameSeries({ id, labels }: Series): unknown[] {
  return [[...id], Buffer.from(labels).toString('latin1')];
}

test('agrees with a map, through growth and trimming', () => {
  const options = fc.record({
    maxBytes: fc.constantFrom(500, 100_000, 1e9),
    maxSeries: fc.constantFrom(3, 1000, 1e6),
  });
  const step = fc.oneof(
    { weight: 20, arbitrary: fc.nat(3000) },
    { weight: 1, arbitrary: fc.constant('trim' as const) },
  );
  fc.assert(
    fc.property(options, fc.array(step, { maxLength: 3000, size: 'max' }), (limits, steps) => {
      const memo = new SeriesMemo(limits);
      for (const number of steps) {
        if (number === 'trim') {
          memo.trim();
          continue;
        }
        const expected = toSeries(toLabelsOf(number));
        const found = lookUp(memo, toRaw(number), () => expected);
        assert.deepEqual(sameSeries(seriesAt(memo, found.number)), sameSeries(expected));
      }
    }),
    { numRuns: 30 },
  );
});

test('remembers every series until it is trimmed, in any order', () => {
  const memo = new SeriesMemo(roomy);
  const count = 5000;
  for (let number = 0; number < count; number += 1) {
    const series = () => toSeries(toLabelsOf(number));
    assert.ok(lookUp(memo, toRaw(number), series).isNew);
  }
  memo.trim();
  const fail = () => assert.fail('it is known');
  for (let number = count - 1; number >= 0; number -= 1) {
    const found = lookUp(memo, toRaw(number), fail);
    assert.equal(found.number, number);
  }
});

test('predicts the next series correctly or not at all', () => {
  const memo = new SeriesMemo(roomy);
  const toLongRaw = (number: number) => Buffer.concat([toRaw(number), Buffer.alloc(45, 'l')]);
  const [a, b, c] = [1, 2, 3].map(toLongRaw) as [Buffer, Buffer, Buffer];
  const next = (raw: Buffer, end = raw.length) => memo.next(toView(raw), 0, end);
  assert.equal(next(a), -1);
  for (const raw of [a, b, c, a]) lookUp(memo, raw, () => toSeries([]));
  assert.equal(next(b), 1);
  assert.equal(next(Buffer.concat([c, a])), 2);
  assert.equal(next(b), -1);
  assert.equal(next(a, a.length - 1), -1);
  assert.equal(next(a), 0);
  for (let at = 0; at < b.length; at += 1) {
    const other = Buffer.from(b);
    other[at]! ^= 1;
    assert.equal(next(other), -1, `byte ${at}`);
  }
});

test('keeps where labels are known until it is trimmed', () => {
  const memo = new SeriesMemo({ maxBytes: 1e9, maxSeries: 1 });
  const [a, b] = [1, 2].map((number) => {
    return lookUp(memo, toRaw(number), () => toSeries([])).number;
  }) as [number, number];
  assert.equal(memo.isKnown(a, 7, 1), false);
  memo.setKnown(a, 7, 1);
  assert.deepEqual(
    [memo.isKnown(a, 7, 1), memo.isKnown(a, 7, 2), memo.isKnown(a, 8, 1), memo.isKnown(b, 7, 1)],
    [true, false, false, false],
  );
  memo.trim();
  const again = lookUp(memo, toRaw(1), () => toSeries([])).number;
  assert.deepEqual([again, memo.isKnown(again, 7, 1)], [a, false]);
});

test('stores label sets larger than a chunk', () => {
  const memo = new SeriesMemo(roomy);
  const raws = [100, 3_000_000, 10, 1_048_576].map((length) => Buffer.alloc(length, 'x'));
  for (const [index, raw] of raws.entries()) {
    lookUp(memo, raw, () => toSeries(toLabelsOf(index)));
  }
  for (const [index, raw] of raws.entries()) {
    const { number, isNew } = lookUp(memo, raw, () => assert.fail('it is known'));
    assert.equal(isNew, false);
    const expected = toSeries(toLabelsOf(index));
    assert.deepEqual(sameSeries(seriesAt(memo, number)), sameSeries(expected));
  }
});

test('empties itself beyond its limits', () => {
  for (const limits of [
    { maxBytes: 1e9, maxSeries: 10 },
    { maxBytes: 600, maxSeries: 1e6 },
  ]) {
    const memo = new SeriesMemo(limits);
    const add = (number: number) => lookUp(memo, toRaw(number), () => toSeries([])).isNew;
    for (let number = 0; number < 50; number += 1) add(number);
    assert.equal(add(7), false);
    memo.trim();
    assert.equal(add(7), true);
    memo.trim();
    assert.equal(add(7), false);
  }
});

/** Words that differ in their top bits only collide in a multiplicative hash. */
function colliding(count: number): Buffer[] {
  return Array.from({ length: count }, (_, number) => {
    const raw = Buffer.alloc(256, 0x41);
    for (let bit = 0; bit < 16; bit += 1) {
      if (((number >> bit) & 1) === 0) continue;
      raw[bit * 16 + 3]! ^= 0x80;
      raw[bit * 16 + 11]! ^= 0x80;
      raw[bit * 16 + 10]! ^= 0x01;
    }
    return raw;
  });
}

test('returns no wrong series for colliding label sets, with bounded search', () => {
  const memo = new SeriesMemo(roomy);
  const raws = colliding(2000);
  assert.equal(new Set(raws.map((raw) => memo.hash(raw, 0, raw.length))).size, 1);
  for (const [number, raw] of raws.entries()) {
    lookUp(memo, raw, () => toSeries(toLabelsOf(number)));
  }
  for (const [number, raw] of raws.entries()) {
    const expected = toSeries(toLabelsOf(number));
    const found = lookUp(memo, raw, () => expected);
    assert.deepEqual(sameSeries(seriesAt(memo, found.number)), sameSeries(expected));
  }
});

test('spreads similar label sets', () => {
  const memo = new SeriesMemo(roomy);
  const hashes = Array.from({ length: 20_000 }, (_, number) => {
    const raw = toRaw(number);
    return memo.hash(raw, 0, raw.length);
  });
  // Among 20,000 random 32-bit hashes about 0.05 pairs collide; they occupy about 17,200 of 65,536
  // slots.
  assert.ok(new Set(hashes).size > 19_990);
  for (const shift of [0, 16]) {
    const slots = new Set(hashes.map((hash) => (hash >>> shift) & 0xffff));
    assert.ok(slots.size > 16_800 && slots.size < 17_600, `${slots.size} slots`);
  }
});
