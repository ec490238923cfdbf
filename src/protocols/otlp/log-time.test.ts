/** Event times of OTLP, by magnitude. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { LogTime, type TimeVerdict } from './log-time.ts';

const latest = 5_648_745_599_999_999_999n;

function read(value: bigint): { verdict: TimeVerdict; nanos: bigint } {
  const time = new LogTime();
  const verdict = time.read(Number(value >> 32n), Number(value & 0xffff_ffffn));
  return { verdict, nanos: BigInt(time.millis) * 1_000_000n + BigInt(time.nanos) };
}

test('nanoseconds are kept exactly', () => {
  const nanos = fc.bigInt({ min: 5_648_745_600_000_000n, max: latest });
  fc.assert(
    fc.property(nanos, (value) =>
      assert.deepEqual(read(value), { verdict: 'exact', nanos: value }),
    ),
  );
});

test('other units are told by their magnitude', () => {
  for (const [sent, verdict, nanos] of [
    [1n, 'exact', 1n],
    [99_999_999n, 'exact', 99_999_999n],
    [100_000_000n, 'corrected', 100_000_000_000_000_000n],
    [1_544_712_660n, 'corrected', 1_544_712_660_000_000_000n],
    [5_648_745_599n, 'corrected', 5_648_745_599_000_000_000n],
    [5_648_745_600n, 'exact', 5_648_745_600n],
    [1_544_712_660_123n, 'corrected', 1_544_712_660_123_000_000n],
    [1_544_712_660_123_456n, 'corrected', 1_544_712_660_123_456_000n],
    [5_648_745_599_999_999n, 'corrected', 5_648_745_599_999_999_000n],
    [5_648_745_600_000_000n, 'exact', 5_648_745_600_000_000n],
    [latest, 'exact', latest],
  ] as const) {
    assert.deepEqual(read(sent), { verdict, nanos }, String(sent));
  }
});

test('zero is absent, and what is past 2149 is outside', () => {
  assert.equal(read(0n).verdict, 'absent');
  assert.equal(read(latest + 1n).verdict, 'outside');
  assert.equal(read(1n << 63n).verdict, 'outside');
  assert.equal(read((1n << 64n) - 1n).verdict, 'outside');
});
