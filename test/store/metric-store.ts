/** Helpers for tests of stored metrics on a real engine. */
import assert from 'node:assert/strict';
import { localToken } from './local-token.ts';
import type { BatchOwner, StampedBatch } from '../../src/model/batch.ts';
import { type EngineStore, localName } from './engine-store.ts';
import { samplesPlan } from './metric-fixture.ts';

export const dayNanos = 86_400_000_000_000n;
export const noonMs = Date.parse('2026-04-01T12:00:00Z');
export const noon = BigInt(noonMs) * 1_000_000n;

export function insertMetrics({ store }: EngineStore, batches: readonly StampedBatch[]) {
  return store.insert('metrics/1', batches, 'all', localToken);
}

/** Merges all samples into one part per day. */
export function mergeSamples(engine: EngineStore): Promise<void> {
  const sql = `OPTIMIZE TABLE weir.${localName(engine, 'samples')} FINAL`;
  return engine.store.connection.execute('housekeeping', { sql, params: {} });
}

/** [time, bits] of the only series. */
export async function readOnlySeries(
  { store }: EngineStore,
  owner: BatchOwner,
): Promise<[bigint, bigint][]> {
  const [series, ...others] = await store.samples(samplesPlan(owner));
  assert.equal(others.length, 0);
  return Array.from(series!.times, (time, i) => [time, series!.values[i]!]);
}
