/** Answers of PromQL queries: what they say besides their series. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeQueryResponse } from './query-response.ts';

test('an answer has ten warnings and ten infos, and how many more there are', async () => {
  const texts = (count: number) => Array.from({ length: count }, (_, i) => `note ${i}`);
  const answer = {
    result: { type: 'vector', series: [] },
    warnings: texts(10),
    infos: texts(13),
    samplesPerStep: new Float64Array(1),
    peakSamples: 0,
  } as const;
  const times = { startMs: 0, endMs: 0, stepMs: 0 };
  const bytes = await encodeQueryResponse(answer, times, { limit: 0, stats: '', seconds: 0 });
  const body = JSON.parse(Buffer.from(bytes).toString()) as Record<string, unknown>;
  assert.deepEqual(body['warnings'], texts(10));
  assert.deepEqual(body['infos'], [...texts(10), '3 more info annotations omitted']);
});
