/**
 * Among many samples of one series and time the last accepted one is read, bit for bit, however
 * they are spread over batches, inserts and parts.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { localToken } from '../store/local-token.ts';
import { createRandom } from '../harness/random.ts';
import { type EngineStore, openEngineStore } from '../store/engine-store.ts';
import { metricBatch, type MetricFixture, newOwner, samplesPlan } from '../store/metric-fixture.ts';
import { toBits } from '../harness/prompb.ts';

const seed = Number(process.env['WEIR_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const random = createRandom(seed);
const startNanos = BigInt(Date.UTC(2026, 4, 20)) * 1_000_000n;

let engine: EngineStore;
before(async () => {
  engine = await openEngineStore();
});
after(() => engine.close());

const randomWord = () => BigInt(random.integer(0, 0xffff_ffff));
const randomBits = () => (randomWord() << 32n) | randomWord();

/** Bit patterns that codecs and conversions might change; one kind per series. */
const kinds: readonly (() => bigint)[] = [
  randomBits,
  () => 0x7ff0_0000_0000_0000n | randomWord(),
  () => random.pick([0n, 1n << 63n, (1n << 63n) - 1n, (1n << 64n) - 1n, 1n]),
  () => BigInt.asUintN(64, 0x4330_0000_0000_0000n + BigInt(random.integer(-3, 3))),
  () => BigInt.asUintN(64, 0x4340_0000_0000_0000n + BigInt(random.integer(-3, 3))),
  () => toBits(random.integer(-2, 2)),
  () => toBits(random.pick([2 ** 53, -(2 ** 53), 2 ** 63, -(2 ** 63), 1e300, 0.1, -0])),
  () => randomBits() & (randomBits() | 0xfff0_0000_0000_0000n),
];

test('the last of many wins, for any bits', async (t) => {
  t.diagnostic(`seed ${seed}`);
  const owner = newOwner();
  const wanted = new Map<string, bigint>();
  let receivedAtNanos = startNanos;
  async function insert(batches: number, rows: number): Promise<void> {
    const made = Array.from({ length: batches }, () => {
      receivedAtNanos += random.pick([1n, 1n, 400_000_000n]);
      const metrics = Array.from({ length: rows }, (): MetricFixture => {
        const series = random.integer(0, 15);
        const samples = Array.from({ length: random.integer(1, 40) }, () => {
          const time = random.integer(0, 20);
          const bits = kinds[series % kinds.length]!();
          wanted.set(`${series} ${time}`, bits);
          return [time, bits] as const;
        });
        return { name: 'many', labels: { series: String(series) }, samples };
      });
      return metricBatch(metrics, { owner, receivedAtNanos });
    });
    await engine.store.insert('metrics/1', made, 'all', localToken);
    // The same again in the same order, as after a crash.
    if (random.next() < 0.5) await engine.store.insert('metrics/1', made, 'missing', localToken);
  }
  async function check(when: string): Promise<void> {
    const found = new Map<string, bigint>();
    for (const { labels, times, values } of await engine.store.samples(samplesPlan(owner))) {
      const series = labels.find(([name]) => name === 'series')?.[1] ?? '';
      for (const [i, time] of times.entries()) {
        assert.ok(!found.has(`${series} ${time}`), `${when}: twice`);
        found.set(`${series} ${time}`, values[i]!);
      }
    }
    const differing = [...wanted].filter(([key, bits]) => found.get(key) !== bits);
    assert.deepEqual([found.size, differing.slice(0, 5)], [wanted.size, []], when);
  }
  for (let round = 0; round < 8; round += 1) {
    await insert(random.integer(1, 20), random.pick([1, 3, 40]));
    await check(`round ${round}`);
  }
  const sql = 'OPTIMIZE TABLE weir.samples FINAL';
  await engine.store.connection.execute('housekeeping', { sql, params: {} });
  await check('merged');
});
