/**
 * Contract of every quota store, run for each of them. Rates are very low where time must not
 * matter.
 */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import fc from 'fast-check';
import type { Bucket, QuotaStore } from '../../src/admission/port.ts';
import { createRandom } from '../harness/random.ts';

export interface QuotaUnderTest {
  readonly store: QuotaStore;
  /** Advances the store's time; slightly more may have passed. */
  pass(ms: number): Promise<void>;
  /** The clock that `pass` advances, in ms. */
  nowMs(): number;
  close(): Promise<void>;
}

const standstill = 1e-6;
/** Timers may fire early, and a store may use another clock. */
const clockToleranceMs = 2;

/** @param runs of the property tests */
export function quotaContract(
  name: string,
  open: () => Promise<QuotaUnderTest>,
  { runs, skip }: { readonly runs: number; readonly skip: string | false },
): void {
  suite(`quota contract: ${name}`, { skip }, () => {
    let quota: QuotaUnderTest;
    let owners = 0;
    before(async () => {
      quota = await open();
    });
    after(() => quota?.close());

    /** Buckets of a new account. */
    function openBuckets(receiver: Rate, account: Rate = receiver): [Bucket, Bucket] {
      owners += 1;
      const accountId = `account-${owners}`;
      return [
        { policy: 'receiver', owner: `receiver-${owners}`, accountId, ...receiver },
        { policy: 'account', owner: accountId, accountId, ...account },
      ];
    }

    const take = async (buckets: readonly Bucket[], events: number) =>
      quota.store.take(buckets, events);
    /** The level of the store, read by taking nothing. */
    async function levelOf(bucket: Bucket): Promise<number> {
      await take([bucket], 0);
      return quota.store.level(bucket);
    }

    test('an unknown bucket is full', async () => {
      const [bucket] = openBuckets({ eventsPerSecond: 5, burstEvents: 20 });
      assert.equal(quota.store.level(bucket), 20);
      assert.equal(await levelOf(bucket), 20);
    });

    test('accepts a batch beyond the burst and records the exact debt', async () => {
      const [bucket] = openBuckets({ eventsPerSecond: standstill, burstEvents: 20 });
      assert.equal(await take([bucket], 1_000_020), true);
      near(quota.store.level(bucket), -1_000_000);
      assert.equal(await take([bucket], 1), false);
      near(await levelOf(bucket), -1_000_000);
    });

    test('a bucket above zero accepts anything', async () => {
      const [bucket] = openBuckets({ eventsPerSecond: standstill, burstEvents: 2.5 });
      assert.deepEqual([await take([bucket], 2), await take([bucket], 9)], [true, true]);
      near(await levelOf(bucket), -8.5);
    });

    test('charges all buckets or none', async () => {
      const [receiver, account] = openBuckets({ eventsPerSecond: standstill, burstEvents: 10 });
      assert.equal(await take([account], 30), true);
      assert.equal(await take([receiver, account], 5), false);
      near(await levelOf(receiver), 10);
      near(await levelOf(account), -20);
    });

    test('a refund does not exceed the burst', async () => {
      const buckets = openBuckets(
        { eventsPerSecond: standstill, burstEvents: 10 },
        { eventsPerSecond: standstill, burstEvents: 100 },
      );
      assert.equal(await take(buckets, 50), true);
      quota.store.giveBack(buckets, 45);
      near(await levelOf(buckets[0]), 5);
      near(await levelOf(buckets[1]), 95);
      quota.store.giveBack(buckets, 45);
      near(await levelOf(buckets[0]), 10);
      near(await levelOf(buckets[1]), 100);
    });

    test('time pays off a debt at the rate', async () => {
      const [bucket] = openBuckets({ eventsPerSecond: 1000, burstEvents: 50 });
      const startMs = quota.nowMs();
      const most = () => -100 + (quota.nowMs() - startMs) + clockToleranceMs;
      assert.equal(await take([bucket], 150), true);
      assert.ok(quota.store.level(bucket) <= most());
      await quota.pass(60);
      const level = await levelOf(bucket);
      assert.ok(level >= -40 - clockToleranceMs, `${level} after 60 ms`);
      assert.ok(level <= most(), `${level} is more than ${most()}`);
      await quota.pass(120);
      assert.equal(await take([bucket], 1), true);
    });

    test('changed limits keep the level, within the new burst', async () => {
      const [bucket] = openBuckets({ eventsPerSecond: standstill, burstEvents: 100 });
      await take([bucket], 10);
      near(await levelOf({ ...bucket, burstEvents: 1000 }), 90);
      near(await levelOf({ ...bucket, burstEvents: 40 }), 40);
    });

    test('serialises concurrent charges down to zero', async () => {
      // So low that it rounds to nothing between two charges.
      const eventsPerSecond = Number.MIN_VALUE;
      const buckets = openBuckets(
        { eventsPerSecond, burstEvents: 1000 },
        { eventsPerSecond, burstEvents: 60 },
      );
      const taken = await Promise.all(Array.from({ length: 200 }, () => take(buckets, 1)));
      assert.equal(taken.filter(Boolean).length, 60);
      near(await levelOf(buckets[0]), 940);
    });

    test('agrees with a model, step by step', () => {
      const step = fc.record({
        which: fc.constantFrom('receiver', 'account', 'both'),
        way: fc.constantFrom('take', 'take', 'take', 'giveBack'),
        events: fc.integer({ min: 1, max: 40 }),
      });
      // Never exactly zero, where the smallest time step matters.
      const burstEvents = fc.integer({ min: 1, max: 99 }).map((events) => events - 0.5);
      const bursts = fc.tuple(burstEvents, burstEvents);
      const property = fc.asyncProperty(bursts, fc.array(step), async (burst, steps) => {
        const [receiver, account] = openBuckets(
          { eventsPerSecond: standstill, burstEvents: burst[0] },
          { eventsPerSecond: standstill, burstEvents: burst[1] },
        );
        const model = new Map([receiver, account].map((bucket) => [bucket, bucket.burstEvents]));
        for (const { which, way, events } of steps) {
          const all = { receiver: [receiver], account: [account], both: [receiver, account] };
          const buckets = all[which];
          const isTaken = buckets.every((bucket) => (model.get(bucket) ?? 0) > 0);
          const gain = way === 'giveBack' ? events : isTaken ? -events : 0;
          if (way === 'giveBack') quota.store.giveBack(buckets, events);
          else assert.equal(await take(buckets, events), isTaken);
          for (const bucket of buckets) {
            const level = Math.min(bucket.burstEvents, (model.get(bucket) ?? 0) + gain);
            model.set(bucket, level);
            if (way === 'take') near(quota.store.level(bucket), level);
          }
        }
        for (const [bucket, level] of model) near(await levelOf(bucket), level);
      });
      return fc.assert(property, { numRuns: runs, seed: 7 });
    });

    test('over any period grants at most burst, rate and one last batch', async () => {
      const random = createRandom(5);
      // Far less than requested.
      const [bucket] = openBuckets({ eventsPerSecond: 200, burstEvents: 300 });
      const startMs = quota.nowMs();
      let taken = 0;
      let refused = 0;
      for (let i = 0; i < 100; i += 1) {
        if (random.next() < 0.1) await quota.pass(random.integer(1, 8));
        const events = random.integer(1, 50);
        const isTaken = await take([bucket], events);
        if (isTaken) taken += events;
        else refused += 1;
        const allowed = 300 + 0.2 * (quota.nowMs() - startMs + clockToleranceMs) + 50;
        assert.ok(taken <= allowed, `${taken} of ${allowed} events`);
      }
      assert.ok(taken > 300 && refused > 0, `${taken} events taken, ${refused} times refused`);
    });
  });
}

type Rate = Pick<Bucket, 'eventsPerSecond' | 'burstEvents'>;

/** Far less than an event, far more than rounding errors. */
function near(level: number, wanted: number): void {
  assert.ok(Math.abs(level - wanted) < 1e-3, `${level} is not ${wanted}`);
}
