/**
 * Invariants of every batch that a decoder returns, for any input: rows parse exactly, counts
 * agree, and the store can accept each row.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { type Batch, countEvents } from '../../src/model/batch.ts';
import type { DecodeLimits } from '../../src/model/protocol.ts';
import { logRowFields } from '../../src/codec/log-rows.ts';
import { maxEventTimeMillis } from '../../src/model/log-id.ts';
import { maxRowsPerBatch } from '../../src/model/log-id.ts';
import { metricHeaderBytes, metricSections, sectionOf } from '../../src/codec/metric-rows.ts';
import { type LogRow, readLogRows } from '../protocols/read-log-rows.ts';
import { type LabelRow, type MetricRows, readMetricRows } from '../protocols/read-metric-rows.ts';
import { toCount, toInteger, toMap, toText } from './row-binary.ts';

/** @throws AssertionError naming the rule. */
export function checkBatch(batch: Batch, limits: DecodeLimits): void {
  checkCounts(batch, limits);
  if (batch.layout === 'logs/1') checkLogs(batch);
  else checkMetrics(batch);
}

function checkCounts(batch: Batch, { maxEvents, maxRejections }: DecodeLimits): void {
  const { rows, rejected, rejectedCount, rejectedByReason, warnings } = batch;
  assert.ok(rows >= 0 && rows <= maxRowsPerBatch, `${rows} rows do not fit into a batch`);
  assert.ok(countEvents(batch) <= maxEvents, `${rows} rows are more than ${maxEvents}`);
  assert.ok(rejected.length <= Math.min(rejectedCount, maxRejections), 'too many rejections');
  assert.ok(rejectedCount === 0 || rejected.length > 0, 'no rejection is listed');
  const byReason = [...rejectedByReason.values()].reduce((sum, count) => sum + count, 0);
  assert.equal(byReason, rejectedCount, 'rejections by reason must add up to the total');
  for (const [word, count] of [...rejectedByReason, ...(warnings ?? [])]) {
    assert.ok(Number.isInteger(count) && count > 0, `${word} happened ${count} times`);
  }
}

function checkLogs({ rows, payload }: Batch): void {
  const logs = readLogRows(payload);
  assert.equal(logs.length, rows, 'the number of rows must equal the count of the batch');
  assert.ok(encodeLogs(logs).equals(payload), 'rows must encode to the same bytes');
  const lastNanos = BigInt(maxEventTimeMillis) * 1_000_000n;
  for (const log of logs) {
    for (const time of [log.timestamp, log.observedTimestamp] as bigint[]) {
      assert.ok(time >= -1n && time < lastNanos, `the time ${time} is out of range`);
    }
    assert.ok(
      (log.severityNumber as number) <= 24,
      `the severity is ${Number(log.severityNumber)}`,
    );
    assert.match(log.traceId as string, /^(?:[0-9a-f]{32})?$/);
    assert.match(log.spanId as string, /^(?:[0-9a-f]{16})?$/);
  }
}

/** A map with a duplicate key reads back shorter. */
function encodeLogs(logs: readonly LogRow[]): Buffer {
  const fields = logs.flatMap((log) =>
    logRowFields.map(([name, type]) => {
      const value = log[name];
      if (type === 'Int64') return toInteger(value as bigint, 8);
      if (type === 'UInt8') return toInteger(BigInt(value as number), 1);
      if (type === 'String') return toText(value as string);
      return toMap([...(value as Map<string, string>)]);
    }),
  );
  return Buffer.concat(fields);
}

function checkMetrics({ rows, payload, written }: Batch): void {
  assert.ok(written !== undefined, 'a metrics batch must have the counts of its sections');
  const read = readMetricRows(payload);
  const { samples, histograms, exemplars, metadata } = read;
  const counts = { samples, histograms, exemplars, metadata };
  for (const [kind, list] of Object.entries(counts)) {
    assert.equal(list.length, written[kind as keyof typeof counts], `${kind} must agree`);
  }
  const records = samples.length + histograms.length + exemplars.length + metadata.length;
  assert.equal(records, rows, 'the number of records must equal the count of the batch');
  for (const section of metricSections) {
    const again = encodeSection(read, section);
    const bytes = sectionOf(payload, section);
    assert.ok(again.equals(bytes), `${section} must be written as they are read`);
  }
  assert.ok(payload.length >= metricHeaderBytes);
  for (const series of read.series) checkLabels(series.labels, series.id);
  for (const exemplar of exemplars) checkSorted(exemplar.labels);
}

function encodeSection(rows: MetricRows, section: (typeof metricSections)[number]): Buffer {
  const list = rows[section] as readonly unknown[];
  if (list.length === 0) return Buffer.alloc(0);
  const count = toCount(list.length);
  switch (section) {
    case 'series': {
      const tuples = rows.series.flatMap(({ id, day, labels }) => [
        toInteger(id, 16),
        toInteger(BigInt(day), 2),
        toMap(labels),
      ]);
      return Buffer.concat([count, ...tuples]);
    }
    case 'samples': {
      const ids = rows.samples.map(({ id }) => toInteger(id, 16));
      const times = rows.samples.map(({ timeMs }) => toInteger(timeMs, 8));
      const values = rows.samples.map(({ valueBits }) => toInteger(valueBits, 8));
      return Buffer.concat([count, ...ids, count, ...times, count, ...values]);
    }
    case 'histograms': {
      const tuples = rows.histograms.flatMap(({ id, timeMs, message }) => [
        toInteger(id, 16),
        toInteger(timeMs, 8),
        toText(message),
      ]);
      return Buffer.concat([count, ...tuples]);
    }
    case 'exemplars': {
      const tuples = rows.exemplars.flatMap(({ id, timeMs, valueBits, labels }) => [
        toInteger(id, 16),
        toInteger(timeMs, 8),
        toInteger(valueBits, 8),
        toMap(labels),
      ]);
      return Buffer.concat([count, ...tuples]);
    }
    case 'metadata': {
      const texts = rows.metadata.flatMap(({ name, type, unit, help }) => [name, type, unit, help]);
      return Buffer.concat([count, ...texts.map((text) => toText(text))]);
    }
  }
}

/** The stored id is half of the SHA-256 of the labels as stored. */
function checkLabels(labels: LabelRow, id: bigint): void {
  checkSorted(labels);
  assert.ok(
    labels.some(([name]) => name === '__name__'),
    'a series must name its metric',
  );
  const digest = createHash('sha256').update(toMap(labels)).digest();
  const expected = digest.readBigUInt64LE() | (digest.readBigUInt64LE(8) << 64n);
  assert.equal(id, expected, 'the id must be the hash of the labels');
}

function checkSorted(labels: LabelRow): void {
  for (const [index, [name, value]] of labels.entries()) {
    assert.ok(name !== '' && value !== '', 'a label must have a name and a value');
    const before = labels[index - 1];
    if (before === undefined) continue;
    const order = Buffer.compare(Buffer.from(before[0]), Buffer.from(name));
    assert.ok(order < 0, 'labels must be sorted, each once');
  }
}
