/** Series are read some at a time, as far back as memory allows. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Statement } from '../sql/statement.ts';
import type { LoadParts } from './load.ts';
import { StreamHead } from './stream-head.ts';
import { warmUp } from './warm-up.ts';

const hourMs = 60 * 60_000;
const nowMs = Date.UTC(2026, 0, 10, 12);
const stream = { streamId: 's', receivedFromNanos: 0n };

suite('warm-up', () => {
  test('reads four hours of every series that has no samples yet', async () => {
    const { head, budget, parts, asked } = open({ series: 500, samplesPerHour: 2 });
    const read = head.index.all()[0]!;
    head.keepSamples(nowMs - 5 * hourMs, [
      { series: read, times: new Float64Array(), values: new Float64Array() },
    ]);
    await warmUp(parts, { accountId: 'a', stream, head, nowMs, room: () => 10_000 });
    assert.deepEqual(asked, [199, 200, 100]);
    assert.equal(read.columns?.fromMs, nowMs - 5 * hourMs);
    for (const { columns } of head.index.all().slice(1)) {
      assert.equal(columns?.fromMs, nowMs - 4 * hourMs);
      const { from, to } = columns.between(0, nowMs);
      assert.equal(to - from, 8);
    }
    head.close();
    assert.equal(budget.samples, 0);
  });

  test('reads less of the others where the first have many samples', async () => {
    const { head, parts, budget } = open({ series: 600, samplesPerHour: 100 });
    const room = () => 90_000 - budget.samples;
    await warmUp(parts, { accountId: 'a', stream, head, nowMs, room });
    const spans = head.index.all().map(({ columns }) => (nowMs - columns!.fromMs) / hourMs);
    const [first, second, third] = [...new Set(spans)] as [number, number, number];
    assert.equal(first, 4);
    assert.ok(second < 2.5 && third < second, String(spans));
    assert.ok(Math.abs(room()) < 1000, String(room()));
  });

  test('stops where memory has room for minutes only', async () => {
    const { head, parts, asked, budget } = open({ series: 600, samplesPerHour: 100 });
    const room = () => 44_000 - budget.samples;
    await warmUp(parts, { accountId: 'a', stream, head, nowMs, room });
    assert.deepEqual(asked, [200]);
  });

  test('stops at a step with too many samples, and keeps nothing of it', async () => {
    const { head, parts, asked } = open({ series: 300, samplesPerHour: 100 });
    await warmUp(parts, { accountId: 'a', stream, head, nowMs, room: () => 20_000 });
    // Once more, since rows may be there twice.
    assert.deepEqual(asked, [200, 200]);
    assert.ok(head.index.all().every(({ columns }) => columns === undefined));
  });
});

/** A head, and a store in which every series has as many samples. */
function open({ series, samplesPerHour }: { series: number; samplesPerHour: number }) {
  const budget = { samples: 0 };
  const head = new StreamHead(0, budget);
  head.addSeries(
    Array.from({ length: series }, (_, i) => ({
      id: Uint32Array.of(i, 0, 0, 0),
      days: [20_000],
      labels: [['i', String(i)] as const],
    })),
  );
  const asked: number[] = [];
  const readBytes = async ({ params }: Statement) => {
    const values = Object.values(params).map(String);
    const ids = values.find((value) => value.startsWith('['))!;
    const ofSteps = JSON.parse(ids) as number[];
    const fromMs = Number(values.find((value) => /^17679\d+$|^1768\d+$/.test(value)));
    asked.push(ofSteps.length);
    return Buffer.concat(ofSteps.map((id) => rowOf(id, fromMs, samplesPerHour)));
  };
  const parts = { connection: { readBytes }, database: 'weir', limits } as LoadParts;
  return { head, budget, parts, asked };
}

const limits = {
  maxSeconds: 30,
  maxMemoryBytes: 1e9,
  maxRowsRead: 1e9,
  maxRowsReturned: 1e9,
};

/** RowBinary of an id, its times and values. */
function rowOf(id: number, fromMs: number, samplesPerHour: number): Buffer {
  const count = Math.round(((nowMs - fromMs) / hourMs) * samplesPerHour);
  const words = new BigInt64Array(count);
  for (let i = 0; i < count; i++) words[i] = BigInt(fromMs + i * (hourMs / samplesPerHour));
  const head = Buffer.alloc(16);
  head.writeUInt32LE(id);
  const length = Buffer.from([(count & 127) | 128, count >> 7]);
  return Buffer.concat([head, length, bytesOf(words), length, bytesOf(words)]);
}

function bytesOf({ buffer }: BigInt64Array): Buffer {
  return Buffer.from(buffer);
}
