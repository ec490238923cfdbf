/**
 * Bombs against the real process: each gets its answer, small requests are answered meanwhile, and
 * memory stays within the stated bound and is released.
 */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { configSchema } from '../../src/config/schema.ts';
import { type Service, startService } from '../harness/service.ts';
import { until } from '../harness/until.ts';
import { bombs } from './bombs.ts';
import type { Bomb } from './payloads.ts';
import { startThrower, type Thrower } from './thrower.ts';
import { memoryBytes, watch, type Watched } from './watch.ts';

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
/** HTTP status and gRPC status. */
const unavailable = [503, 14];
/** Another bomb at the same time may have used up the quota of series. */
const overQuota = [429, 8];

suite('bombs', { skip: process.platform !== 'linux' && 'it needs /proc' }, () => {
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

  async function throwAll(names: readonly string[]): Promise<readonly number[]> {
    const watched = await watch(service, () => thrower.throw(names));
    assertOthersServed(watched);
    const growth = watched.peakBytes - idleBytes;
    assert.ok(growth <= maxGrowthBytes, `memory grew by ${growth} bytes`);
    return watched.result;
  }

  for (const { name, expected } of bombs) {
    test(`${name} gets its answer`, async () => {
      const [status = -1] = await throwAll([name]);
      assert.ok(expected.includes(status), `the status is ${status}`);
    });
  }

  suite('16 connections at once', () => {
    const connections = 16;
    for (const [group, names] of inGroups(bombs, connections).entries()) {
      test(`different bombs, group ${group + 1}`, () => expectAnswers(names));
    }
    for (const { name } of bombs.filter(({ isHeavy }) => isHeavy === true)) {
      test(name, () => expectAnswers(Array.from({ length: connections }, () => name)));
    }

    async function expectAnswers(names: readonly string[]): Promise<void> {
      const statuses = await throwAll(names);
      for (const [index, status] of statuses.entries()) {
        const { name, expected } = bombs.find((bomb) => bomb.name === names[index])!;
        const isAnswered = [...expected, ...unavailable, ...overQuota].includes(status);
        assert.ok(isAnswered, `the status of "${name}" is ${status}`);
      }
      assert.ok(
        statuses.some((status) => !unavailable.includes(status)),
        'at least one must be processed',
      );
    }
  });

  test('everything works afterwards, and memory is released', async () => {
    const { status } = await service.postLogs({ message: 'after the bombs' });
    assert.equal(status, 202);
    await until(
      async () => (await service.list({ search: '"after the bombs"' })).logs.length === 1,
      {
        what: 'the log after the bombs',
      },
    );
    assert.equal(await service.metric('weir_ingest_in_flight_bytes'), 0);
    assert.equal(await service.metric('weir_queue_quarantined_batches'), 0);
    await until(() => memoryBytes(service.process.pid, 'VmRSS') - idleBytes <= maxKeptBytes, {
      what: 'memory to be released',
    });
  });
});

/** Small requests must not be refused. */
function assertOthersServed({ pings, longestMs }: Watched<unknown>): void {
  assert.deepEqual([...pings.keys()], [202], 'each small request must be accepted');
  assert.ok(longestMs <= maxWaitMs, `a small request waited ${longestMs} ms`);
}

function inGroups(all: readonly Bomb[], size: number): string[][] {
  const names = all.map(({ name }) => name);
  return Array.from({ length: Math.ceil(names.length / size) }, (_, group) =>
    names.slice(group * size, (group + 1) * size),
  );
}
