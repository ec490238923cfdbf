/** Attributes by key, against a Map. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { AttributeSet, maxAttributes } from './attribute-set.ts';

function entriesOf(set: AttributeSet): [string, string][] {
  return Array.from({ length: set.count }, (_, i) => [
    set.keySource[i]!.toString('utf8', set.keyStart[i], set.keyEnd[i]),
    set.valueSource[i]!.toString('utf8', set.valueStart[i], set.valueEnd[i]),
  ]);
}

function put(set: AttributeSet, key: string, value: string): void {
  const source = Buffer.from(key + value);
  const keyEnd = Buffer.byteLength(key);
  set.set(set.add(source, 0, keyEnd), source, keyEnd, source.length);
}

test('agrees with a Map when reused', () => {
  const set = new AttributeSet();
  const key = fc.oneof(
    fc.nat(60).map((n) => `key${n}`),
    fc.string(),
  );
  const entries = fc.array(fc.tuple(key, fc.string()), { maxLength: 120, size: 'max' });
  fc.assert(
    fc.property(entries, (list) => {
      set.clear();
      for (const [name, value] of list) put(set, name, value);
      const expected = [...new Map(list)];
      assert.deepEqual(entriesOf(set), expected);
      assert.equal(set.repeated, list.length - expected.length);
      const bytes = expected.flat().reduce((sum, text) => sum + Buffer.byteLength(text), 0);
      assert.ok(set.rowBytes >= bytes);
    }),
    { numRuns: 300 },
  );
});

test('accepts only attributes of Weir when full', () => {
  const set = new AttributeSet();
  for (let i = 0; i < maxAttributes + 5; i += 1) put(set, `k${i}`, 'v');
  assert.deepEqual([set.count, set.leftOut], [maxAttributes, 5]);
  assert.equal(set.addOwn(Buffer.from('k3')), -1);
  assert.equal(set.addOwn(Buffer.from('own')), maxAttributes);
});

test('fills columns by exact keys', () => {
  const set = new AttributeSet();
  put(set, 'host.name', '');
  put(set, 'k8s.pod.name', 'pod');
  put(set, 'service.nam', 'x');
  assert.deepEqual([...set.columns], [-1, -1, 0, -1, -1, -1, 1, -1, -1]);
  assert.deepEqual([set.fills(0), set.fills(2), set.fills(6)], [false, false, true]);
  set.clear();
  assert.ok(!set.hasColumns && [...set.columns].every((index) => index === -1));
});
