/**
 * Bytes on disk per stored sample, by kind of series and for their mix: hours of scrapes inserted
 * into the real tables by the service's statements, before and after merges.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MetricWriter } from '../src/codec/metric-writer.ts';
import { toSeries } from '../src/codec/series-labels.ts';
import type { StampedBatch } from '../src/model/batch.ts';
import type { ClickHouseStore } from '../src/store/clickhouse.ts';
import { localToken } from '../test/store/local-token.ts';
import { openBenchEngine } from './bench-engine.ts';
import { createMetricCorpus, type MetricCorpus, type SeriesKind } from './metric-corpus.ts';

export interface SampleBytes {
  readonly kind: SeriesKind | 'the mix';
  readonly samples: number;
  /** All columns and marks, after background merges. */
  readonly inserted: number;
  /** The same in one part. */
  readonly merged: number;
}

const kinds = ['counter', 'integer gauge', 'random walk', 'the mix'] as const;
const intervalMs = 15_000;
const seriesOfAll = 10_000;
/** Samples per insert of the drain. */
const samplesPerInsert = 250_000;
const owner = {
  accountId: '7f0c2a51-6c1e-4a8e-9d0e-1f2a3b4c5d6e',
  streamId: '0b9f6a3e-3c5d-4a51-9a3a-6e3b1c0a7f10',
  receiverId: 'rcv_bench',
};

/** @param scrapes per series */
export async function measureSampleBytes(seed: number, scrapes: number): Promise<SampleBytes[]> {
  const found: SampleBytes[] = [];
  for (const kind of kinds) {
    const dataDir = mkdtempSync(join(tmpdir(), 'weir-bench-samples-'));
    const engine = await openBenchEngine(dataDir);
    try {
      const samples = await fill(engine.store, seed, scrapes, kind);
      const inserted = (await bytesOnDisk(engine.store)) / samples;
      const optimize = { sql: 'OPTIMIZE TABLE weir.samples FINAL', params: {} };
      await engine.store.connection.execute('housekeeping', optimize);
      const merged = (await bytesOnDisk(engine.store)) / samples;
      found.push({ kind, samples, inserted, merged });
    } finally {
      await engine.close();
      rmSync(dataDir, { recursive: true, force: true });
    }
  }
  return found;
}

/** @returns number of stored samples. */
async function fill(
  store: ClickHouseStore,
  seed: number,
  scrapes: number,
  kind: SampleBytes['kind'],
): Promise<number> {
  const startMs = Date.now() - scrapes * intervalMs;
  const corpus = createMetricCorpus({
    seed,
    series: seriesOfAll,
    samplesPerRequest: seriesOfAll,
    startMs,
    intervalMs,
  });
  const writer = new MetricWriter();
  const wanted = corpus.series
    .filter((one) => kind === 'the mix' || one.kind === kind)
    .map((one) => ({ one, ids: toSeries(one.labels).id }));
  const perInsert = Math.max(1, Math.floor(samplesPerInsert / wanted.length));
  let sequence = 0n;
  for (let scrape = 0; scrape < scrapes; scrape += perInsert) {
    const batches: StampedBatch[] = [];
    for (let turn = scrape; turn < Math.min(scrapes, scrape + perInsert); turn += 1) {
      const atMs = startMs + turn * intervalMs;
      scrapeOnce(corpus, wanted, writer, atMs);
      batches.push({
        id: { writer: 1n, sequence: (sequence += 1n) },
        receivedAtNanos: BigInt(atMs + intervalMs) * 1_000_000n,
        owner,
        layout: 'metrics/1',
        rows: wanted.length,
        payload: writer.finish(),
      });
    }
    await store.insert('metrics/1', batches, 'all', localToken);
  }
  return scrapes * wanted.length;
}

function scrapeOnce(
  corpus: MetricCorpus,
  wanted: readonly { one: MetricCorpus['series'][number]; ids: Uint32Array }[],
  writer: MetricWriter,
  atMs: number,
): void {
  corpus.next();
  for (const { one, ids } of wanted) {
    const timeMs = atMs + one.offsetMs;
    const time = { low: timeMs >>> 0, high: Math.floor(timeMs / 2 ** 32) };
    writer.sample(ids, 0, time, one.value);
  }
}

async function bytesOnDisk({ connection }: ClickHouseStore): Promise<number> {
  const sql = `SELECT toString(sum(bytes_on_disk)) FROM system.parts
WHERE active AND database = 'weir' AND table = 'samples'`;
  const [row] = await connection.query<[string]>('housekeeping', { sql, params: {} });
  return Number(row?.[0]);
}
