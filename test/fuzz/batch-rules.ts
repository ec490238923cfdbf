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
import { RowWriter } from './row-binary.ts';

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
  assert.ok(encodeLogs(logs, payload.length).equals(payload), 'rows must encode to the same bytes');
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
function encodeLogs(logs: readonly LogRow[], bytes: number): Buffer {
  const writer = new RowWriter(bytes);
  for (const log of logs) {
    for (const [name, type] of logRowFields) {
      const value = log[name];
      if (type === 'Int64') writer.int64(value as bigint);
      else if (type === 'UInt8') writer.byte(value as number);
      else if (type === 'String') writer.text(value as string);
      else writer.map(value as Map<string, string>);
    }
  }
  return writer.bytes;
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
    const bytes = sectionOf(payload, section);
    const again = encodeSection(read, section, bytes.length);
    assert.ok(again.equals(bytes), `${section} must be written as they are read`);
  }
  assert.ok(payload.length >= metricHeaderBytes);
  for (const series of read.series) checkLabels(series.labels, series.id);
  for (const exemplar of exemplars) checkSorted(exemplar.labels);
}

function encodeSection(rows: MetricRows, section: (typeof metricSections)[number], bytes: number) {
  const writer = new RowWriter(bytes);
  const list = rows[section] as readonly unknown[];
  if (list.length === 0) return writer.bytes;
  writer.count(list.length);
  switch (section) {
    case 'series':
      for (const { id, day, labels } of rows.series) {
        writer
          .uint128(id)
          .byte(day & 255)
          .byte(day >> 8)
          .map(labels);
      }
      break;
    case 'samples':
      for (const { id } of rows.samples) writer.uint128(id);
      writer.count(list.length);
      for (const { timeMs } of rows.samples) writer.int64(timeMs);
      writer.count(list.length);
      for (const { valueBits } of rows.samples) writer.int64(valueBits);
      break;
    case 'histograms':
      for (const { id, timeMs, message } of rows.histograms) {
        writer.uint128(id).int64(timeMs).text(message);
      }
      break;
    case 'exemplars':
      for (const { id, timeMs, valueBits, labels } of rows.exemplars) {
        writer.uint128(id).int64(timeMs).int64(valueBits).map(labels);
      }
      break;
    case 'metadata':
      for (const { name, type, unit, help } of rows.metadata) {
        writer.text(name).text(type).text(unit).text(help);
      }
      break;
  }
  return writer.bytes;
}

/** The stored id is half of the SHA-256 of the labels as stored. */
function checkLabels(labels: LabelRow, id: bigint): void {
  checkSorted(labels);
  assert.ok(
    labels.some(([name]) => name === '__name__'),
    'a series must name its metric',
  );
  const digest = createHash('sha256').update(new RowWriter(256).map(labels).bytes).digest();
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
