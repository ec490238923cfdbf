/**
 * Stored data is found on each day that has any, and only accepted data: days of samples and
 * exemplars, and limits reached within a request.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { toNumber, toSample } from '../harness/prompb.ts';
import { openPipeline, type Pipeline } from './pipeline.ts';

const midnightMs = Date.UTC(2026, 4, 20);
const dayMs = 86_400_000;

let pipeline: Pipeline;
let receiverId: string;
before(async () => {
  pipeline = await openPipeline({ nowMs: midnightMs + 1000, maxSeriesPerAccount: 20 });
  receiverId = await pipeline.createReceiver(await pipeline.createStream());
});
after(() => pipeline.close());

interface ExemplarsAnswer {
  readonly data: readonly { readonly exemplars: readonly { readonly timestamp: number }[] }[];
}

async function exemplarTimes(selector: string, startMs: number, endMs: number): Promise<number[]> {
  await pipeline.settle();
  const query = `query=${selector}&start=${startMs / 1000}&end=${endMs / 1000}`;
  const { data } = (await pipeline.call('getExemplars', query)) as ExemplarsAnswer;
  return data.flatMap(({ exemplars }) => exemplars.map(({ timestamp }) => timestamp * 1000));
}

test('finds an exemplar of yesterday beside a sample of today', async () => {
  const exemplarMs = midnightMs - 2000;
  const text =
    '# TYPE late counter\n' +
    `late_total 1 ${midnightMs / 1000} # {trace_id="t"} 1 ${exemplarMs / 1000}\n# EOF\n`;
  assert.equal(await pipeline.pushOpenMetrics(receiverId, text), 202);
  assert.deepEqual(await exemplarTimes('late_total', midnightMs - dayMs, midnightMs - 1), [
    exemplarMs,
  ]);
});

test('finds samples on both sides of midnight by either day', async () => {
  const labels = { __name__: 'edge' };
  const times = [midnightMs - 1, midnightMs, midnightMs + dayMs - 1, midnightMs + dayMs];
  const samples = times.map((timeMs, value) => toSample(timeMs, value));
  assert.equal(await pipeline.write(receiverId, [{ labels, samples }]), 204);
  for (const [value, timeMs] of times.entries()) {
    const [series] = await pipeline.read('edge', { fromMs: timeMs, untilMs: timeMs });
    assert.deepEqual(series?.samples, [toSample(timeMs, value)]);
  }
});

test('a push that reaches the limit midway stores nothing and counts no series', async () => {
  const lines = Array.from({ length: 30 }, (_, i) => `many{i="${i}"} ${i}\n`);
  assert.equal(await pipeline.push(receiverId, lines.join('')), 'quota_exceeded');
  assert.deepEqual(await pipeline.read('many'), []);
  assert.equal(await pipeline.push(receiverId, lines.slice(0, 10).join('')), 202);
  assert.equal((await pipeline.read('many')).length, 10);
});

test('a request over the limit reports what is stored', async () => {
  const series = Array.from({ length: 30 }, (_, i) => ({
    labels: { __name__: 'some', i: String(i) },
    samples: [toSample(midnightMs, i)],
  }));
  assert.equal(await pipeline.write(receiverId, series), 400);
  const stored = await pipeline.read('some');
  assert.ok(stored.length > 0 && stored.length < 30, `${stored.length} series`);
  for (const { labels, samples } of stored) {
    assert.deepEqual(
      samples.map(({ bits }) => toNumber(bits)),
      [Number(labels['i'])],
    );
  }
});
