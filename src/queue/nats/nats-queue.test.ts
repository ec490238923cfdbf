/** Stream times, and cutoffs over the clocks of all shards. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { passCutoff, endOfSecond, parseStreamTime } from './nats-queue.ts';

suite('stream times', () => {
  for (const [text, nanos] of [
    ['1970-01-01T00:00:00Z', 0n],
    ['2026-11-21T03:51:33.610878386Z', 1_795_233_093_610_878_386n],
    ['2026-11-21T03:51:33.6Z', 1_795_233_093_600_000_000n],
    ['2026-11-21T03:51:33Z', 1_795_233_093_000_000_000n],
    ['2026-11-21T05:51:33.000000001+02:00', 1_795_233_093_000_000_001n],
  ] as const) {
    test(text, () => assert.equal(parseStreamTime(text), nanos));
  }
});

test('endOfSecond is the last whole millisecond of a second, not before the time', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 62n }), (nanos) => {
      const end = endOfSecond(nanos);
      assert.equal((end + 1_000_000n) % 1_000_000_000n, 0n);
      assert.ok(end >= nanos && end - nanos < 1_001_000_000n);
    }),
  );
});

/** Shards whose clocks differ and run on a simulated clock. */
function createClocks(offsets: readonly bigint[]) {
  let now = 1_800_000_000_000_000_000n;
  return {
    times: () => offsets.map((offset) => now + offset),
    readTime: async (shard: number) => {
      now += 1_000_000n;
      return now + offsets[shard]!;
    },
    sleep: async (ms: number) => {
      now += BigInt(Math.ceil(ms)) * 1_000_000n;
    },
  };
}

test('a cutoff is after all earlier and before all later messages, on every clock', async () => {
  const offset = fc.bigInt({ min: -3_000_000_000n, max: 3_000_000_000n });
  await fc.assert(
    fc.asyncProperty(fc.array(offset, { minLength: 1, maxLength: 8 }), async (offsets) => {
      const clocks = createClocks(offsets);
      const before = clocks.times();
      const shards = [...offsets.keys()];
      const cutoff = await passCutoff(shards, clocks.readTime, clocks.sleep);
      const after = clocks.times();
      for (const shard of shards) assert.ok(before[shard]! <= cutoff && cutoff < after[shard]!);
    }),
  );
});
