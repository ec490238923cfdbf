/**
 * Large remote_write requests: they yield to others, are decoded concurrently, and hostile ones
 * stay within memory bounds.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createMetricCorpus } from '../../bench/metric-corpus.ts';
import { encodeWriteRequest, toSample } from '../harness/prompb.ts';
import { encodeMessage } from './prompb-schema.ts';
import { until } from '../harness/until.ts';
import { readMetricRows } from './read-metric-rows.ts';
import type { Batch } from '../../src/model/batch.ts';
import { AppError } from '../../src/model/errors.ts';
import { blankSeriesView } from '../harness/blank-series-view.ts';
import { createRemoteWriteDecoders } from '../../src/protocols/remote-write/remote-write.ts';

const labelLimits = { maxLabels: 64, maxLabelNameLength: 1024, maxLabelValueLength: 8192 };
const limits = { maxEvents: 200_000, maxDepth: 1, maxRejections: 10 };
const context = { limits, nowMs: 0, series: blankSeriesView };
const mebibyte = 1024 * 1024;
const roomy = { maxBytes: 128 * mebibyte, maxSeries: 500_000 };

function open(memo = roomy) {
  const maxBytes = 128 * mebibyte;
  const options = { labels: labelLimits, maxLabelBytes: maxBytes, maxInflatedBytes: maxBytes };
  return createRemoteWriteDecoders({ ...options, memo }).v1;
}

/** Decodes, and samples the memory at each yield. */
async function watch(decoding: () => Batch | Promise<Batch>) {
  let turns = 0;
  let peakBytes = 0;
  let isWatching = true;
  const before = bytesInUse();
  const look = () => {
    turns += 1;
    peakBytes = Math.max(peakBytes, bytesInUse() - before);
    if (isWatching) setImmediate(look);
  };
  setImmediate(look);
  try {
    const batch = await decoding();
    peakBytes = Math.max(peakBytes, bytesInUse() - before);
    return { batch, turns, peakBytes };
  } finally {
    isWatching = false;
  }
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function bytesInUse(): number {
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

function manySeries(seed: number): Buffer {
  const corpus = createMetricCorpus({
    seed,
    series: 6000,
    samplesPerRequest: 6000,
    startMs: 1.7e12,
    intervalMs: 15_000,
  });
  return Buffer.from(corpus.next().message);
}

/** One series that takes more than one slice. */
function oneLargeSeries(): Buffer {
  const labels = { __name__: 'up', job: 'large' };
  const times = Array.from({ length: 3000 }, (_, index) => index * 1000);
  return encodeWriteRequest([
    {
      labels,
      samples: times.map((time) => toSample(time, time)),
      exemplars: times.map((time) => ({ labels: { trace_id: 'x' }, ...toSample(time, time) })),
      histograms: times.map((timestamp) => encodeMessage('Histogram', { timestamp })),
    },
  ]);
}

test('yields to other work', async () => {
  const body = manySeries(1);
  const { batch, turns } = await watch(() => open()(body, context));
  assert.equal(batch.rows, 6000);
  assert.ok(turns > 5, `${turns} turns`);
});

test('yields within one series', async () => {
  const { batch, turns } = await watch(() => open()(oneLargeSeries(), context));
  assert.deepEqual(batch.written, {
    samples: 3000,
    histograms: 3000,
    exemplars: 3000,
    metadata: 0,
  });
  assert.ok(turns > 5, `${turns} turns`);
});

/** With a series cache so small that requests evict each other's series. */
test('concurrent requests give the same results as sequential ones', async () => {
  const bodies = [
    manySeries(1),
    oneLargeSeries(),
    manySeries(2),
    Buffer.from([0x0a]),
    manySeries(1),
  ];
  const decode = open({ maxBytes: 1000, maxSeries: 3 });
  const together = await Promise.allSettled(bodies.map(async (body) => decode(body, context)));
  for (const [index, outcome] of together.entries()) {
    if (outcome.status === 'rejected') {
      assert.equal(index, 3);
      assert.ok(outcome.reason instanceof AppError);
      continue;
    }
    const alone = await open()(bodies[index]!, context);
    assert.deepEqual(readMetricRows(outcome.value.payload), readMetricRows(alone.payload));
  }
});

/** The most expensive of these takes as much memory as `maxEvents` samples. */
const maxPeakBytes = 64 * mebibyte;
const bombs: [name: string, body: () => Buffer, rows: number | undefined][] = [
  ['a million empty series', () => Buffer.alloc(2_000_000, Buffer.from([0x0a, 0])), 0],
  [
    'a million empty labels',
    () => inSeries(Buffer.alloc(2_000_000, Buffer.from([0x0a, 0])), Buffer.from([0x12, 0])),
    0,
  ],
  [
    'four million labels apart',
    () =>
      inSeries(Buffer.alloc(16_000_000, Buffer.from([0x0a, 0, 0x30, 0])), Buffer.from([0x12, 0])),
    0,
  ],
  [
    'a million empty samples',
    () => inSeries(Buffer.alloc(2_000_000, Buffer.from([0x12, 0]))),
    undefined,
  ],
  [
    'a million exemplars',
    () => inSeries(Buffer.alloc(2_000_000, Buffer.from([0x1a, 0]))),
    undefined,
  ],
  [
    'a million histograms',
    () => inSeries(Buffer.alloc(2_000_000, Buffer.from([0x22, 0]))),
    undefined,
  ],
  ['a million empty metadata', () => Buffer.alloc(2_000_000, Buffer.from([0x1a, 0])), undefined],
  [
    'a million unnamed series',
    () => Buffer.alloc(4_000_000, Buffer.from([0x0a, 2, 0x12, 0])),
    undefined,
  ],
  [
    'a histogram of a million spans',
    () => inSeries(inField(0x22, Buffer.alloc(2_000_000, Buffer.from([0x5a, 0])))),
    0,
  ],
  [
    'a million fields of version 2.0',
    () => Buffer.alloc(2_000_000, Buffer.from([0x2a, 0])),
    undefined,
  ],
];
for (const [name, body, rows] of bombs) {
  test(`stays within bounds with ${name}`, async () => {
    const bytes = body();
    const decode = open();
    try {
      const { batch, peakBytes } = await watch(() => decode(bytes, context));
      assert.equal(batch.rows, rows);
      assert.ok(batch.payload.length <= 20);
      assert.ok(peakBytes < maxPeakBytes, `${peakBytes} bytes`);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      assert.equal(rows, undefined, error.message);
    }
  });
}

test('evicts series, and frees their memory, over its limit', async () => {
  const decode = open({ maxBytes: mebibyte, maxSeries: 1000 });
  await decode(newSeries(0), context);
  collectGarbage();
  const before = bytesInUse();
  for (let seed = 1; seed <= 20; seed += 1) await decode(newSeries(seed), context);
  const isFree = () => {
    collectGarbage();
    return bytesInUse() - before < 8 * mebibyte;
  };
  await until(isFree, { what: 'memory to be free again' });
});

/** A thousand series with labels of 1 KiB each. */
function newSeries(seed: number): Buffer {
  const series = Array.from({ length: 1000 }, (_, index) => ({
    labels: { __name__: 'up', long: 'x'.repeat(1000), one: `${seed} ${index}` },
    samples: [toSample(1, 1)],
  }));
  return encodeWriteRequest(series);
}

test('stays within bounds with the maximum of samples', async () => {
  const name = inField(0x0a, Buffer.concat([text(0x0a, '__name__'), text(0x12, 'x')]));
  const body = inSeries(name, Buffer.alloc(2 * limits.maxEvents, Buffer.from([0x12, 0])));
  const { batch, peakBytes } = await watch(() => open()(body, context));
  assert.equal(batch.rows, limits.maxEvents);
  assert.ok(peakBytes < maxPeakBytes, `${peakBytes} bytes`);
});

function inSeries(...contents: Buffer[]): Buffer {
  return inField(0x0a, Buffer.concat(contents));
}

function text(tag: number, content: string): Buffer {
  return inField(tag, Buffer.from(content));
}

function inField(tag: number, content: Buffer): Buffer {
  const length: number[] = [];
  let rest = content.length;
  for (; rest > 127; rest >>>= 7) length.push((rest & 127) | 128);
  return Buffer.concat([Buffer.from([tag, ...length, rest]), content]);
}
