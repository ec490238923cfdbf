/**
 * Batches of fuzzed inputs go into a real store, many per insert as in the drain: the store must
 * accept every acknowledged batch.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, suite, test } from 'node:test';
import { localToken } from '../store/local-token.ts';
import type { Batch, BatchOwner, StampedBatch } from '../../src/model/batch.ts';
import { AppError } from '../../src/model/errors.ts';
import type { LogFilter } from '../../src/model/plan.ts';
import { readMetricRows } from '../protocols/read-metric-rows.ts';
import { type EngineStore, openEngineStore } from '../store/engine-store.ts';
import { samplesPlan } from '../store/metric-fixture.ts';
import { runs } from '../harness/runs.ts';
import { createCase } from './fuzz-run.ts';
import type { BatchSubject } from './subject.ts';
import { batchSubjects } from './subjects.ts';

const seed = Number(process.env['FUZZ_SEED'] ?? Date.now() % 2 ** 31);
const batchesPerSubject = runs(20);
const receivedAtNanos = BigInt(Date.parse('2026-04-01T12:00:00Z')) * 1_000_000n;

let engine: EngineStore;
before(async () => {
  engine = await openEngineStore();
});
after(() => engine.close());

suite('the store accepts every batch', () => {
  for (const [index, subject] of batchSubjects.entries()) {
    test(`batches of ${subject.name}`, async (t) => {
      t.diagnostic(`replay with FUZZ_SEED=${seed}`);
      const owner = { accountId: randomUUID(), streamId: randomUUID(), receiverId: 'rcv_fuzz' };
      const batches = (await decodeMany(subject)).map(
        (batch, sequence): StampedBatch => ({
          ...batch,
          owner,
          receivedAtNanos,
          id: { writer: BigInt(index), sequence: BigInt(sequence) },
        }),
      );
      const layout = batches[0]?.layout ?? 'logs/1';
      await engine.store.insert(layout, batches, 'all', localToken);
      if (layout === 'logs/1') {
        const rows = batches.reduce((sum, batch) => sum + batch.rows, 0);
        assert.equal(await countLogs(owner), rows);
      } else {
        assert.equal(await countSamples(owner), samplesOf(batches));
      }
    });
  }
});

/** Non-empty batches of damaged and valid inputs. */
async function decodeMany(subject: BatchSubject): Promise<Batch[]> {
  const decoder = subject.open();
  const batches: Batch[] = [];
  for (let number = 0; batches.length < batchesPerSubject; number += 1) {
    const { input } = createCase(subject, seed, number);
    const outcome = await decoder.feed(input);
    if (!(outcome instanceof AppError) && outcome.rows > 0) batches.push(outcome);
  }
  return batches;
}

async function countLogs({ accountId, streamId }: BatchOwner): Promise<number> {
  const filter: LogFilter = {
    accountId,
    streams: [{ streamId, receivedFromNanos: 0n }],
    fromNanos: undefined,
    untilNanos: undefined,
    equal: new Map(),
    labels: [],
    search: [],
  };
  const [severities] = await engine.store.facets({ filter, fields: ['severity'], topK: 1 });
  return severities?.total ?? 0;
}

/** Samples and histograms of series with labels, one per time. */
async function countSamples(owner: BatchOwner): Promise<number> {
  const series = await engine.store.samples(samplesPlan(owner));
  return series.reduce((sum, { times, histograms }) => sum + times.length + histograms.length, 0);
}

function samplesOf(batches: readonly StampedBatch[]): number {
  const all = batches.map(({ payload }) => readMetricRows(payload));
  const brought = new Set(all.flatMap(({ series }) => series.map(({ id }) => id)));
  const distinct = (records: readonly { id: bigint; timeMs: bigint }[]) => {
    const kept = records.filter(({ id }) => brought.has(id));
    return new Set(kept.map(({ id, timeMs }) => `${id} ${timeMs}`)).size;
  };
  const samples = all.flatMap((rows) => rows.samples);
  return distinct(samples) + distinct(all.flatMap((rows) => rows.histograms));
}
