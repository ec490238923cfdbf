/**
 * Bombs against the real process: each gets its answer, small requests are answered meanwhile, and
 * memory stays within the stated bound and is released.
 */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { configSchema } from '../../src/config/schema.ts';
import { type Service, startService } from '../harness/service.ts';
import { until } from '../harness/until.ts';
import { startThrower, type Thrower } from './thrower.ts';
import { assertWorks, memoryBytes, watch } from './watch.ts';

const { maxInFlightBytes } = configSchema.parse({}).ingest;
/**
 * Memory of the gateway above idle. The estimates behind the limit count live buffers; the rest is
 * garbage until collected.
 */
const maxGrowthBytes = 6 * maxInFlightBytes;
/** What caches and the allocator may retain afterwards. */
const maxKeptBytes = 4 * maxInFlightBytes;
/** Guards against a hang: two cores create, send and process the bombs. */
const maxWaitMs = 30_000;

/** @returns the status of each, in this order */
type ThrowAll = (names: readonly string[]) => Promise<readonly number[]>;

/** @param define adds tests that throw bombs at a service of this suite */
export function bombSuite(title: string, define: (throwAll: ThrowAll) => void): void {
  suite(title, { skip: process.platform !== 'linux' && 'it needs /proc' }, () => {
    let service: Service;
    let thrower: Thrower;
    let idleBytes = 0;
    before(async () => {
      service = await startService();
      thrower = startThrower(service.quickstart);
      idleBytes = memoryBytes(service.process.pid, 'VmRSS');
    });
    after(async () => {
      await thrower.close();
      await service.stop();
    });

    define(async (names) => {
      const { result, pings, longestMs, peakBytes } = await watch(service, () =>
        thrower.throw(names),
      );
      assert.deepEqual([...pings.keys()], [202], 'each small request must be accepted');
      assert.ok(longestMs <= maxWaitMs, `a small request waited ${longestMs} ms`);
      const growth = peakBytes - idleBytes;
      assert.ok(growth <= maxGrowthBytes, `memory grew by ${growth} bytes`);
      return result;
    });

    test('everything works afterwards, and memory is released', async () => {
      await assertWorks(service);
      assert.equal(await service.metric('weir_queue_quarantined_batches'), 0);
      await until(() => memoryBytes(service.process.pid, 'VmRSS') - idleBytes <= maxKeptBytes, {
        what: 'memory to be released',
      });
    });
  });
}
