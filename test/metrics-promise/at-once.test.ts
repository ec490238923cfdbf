/**
 * Deletions concurrent with requests: data acknowledged during a deletion may be deleted, data sent
 * afterwards is stored with its labels.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Labels, toNumber, toSample } from '../harness/prompb.ts';
import { openPipeline, type Pipeline } from './pipeline.ts';

const rounds = Number(process.env['WEIR_RUNS'] ?? 25);
const startMs = Date.UTC(2026, 4, 20, 12);

let pipeline: Pipeline;
let streamId: string;
let receiverId: string;
before(async () => {
  pipeline = await openPipeline({ nowMs: startMs });
  streamId = await pipeline.createStream();
  receiverId = await pipeline.createReceiver(streamId);
});
after(() => pipeline.close());

const labelsOf = (series: number): Labels => ({ __name__: 'at_once', series: String(series) });

function write(series: number, value: number) {
  const samples = [toSample(startMs + value, value)];
  return pipeline.write(receiverId, [{ labels: labelsOf(series), samples }]);
}

test('concurrent requests are stored completely or deleted, later ones stored', async () => {
  let value = 0;
  for (let round = 0; round < rounds; round += 1) {
    pipeline.nowMs += 7;
    const outcomes = Array.from({ length: 8 }, (_, i) => write(i % 3, value + i));
    const deletion = pipeline.admin('deleteStreamData', { streamId });
    for (const outcome of await Promise.all(outcomes)) {
      assert.ok(outcome === 204 || outcome === 'unavailable', String(outcome));
    }
    await deletion;
    const beside = value;
    value += 8;
    const later = [0, 1, 2, 0].map((series) => ({ series, value: value++ }));
    for (const one of later) {
      assert.equal(await write(one.series, one.value), 204);
    }
    const stored = await pipeline.read('at_once');
    for (const { labels, samples } of stored) {
      const series = Number(labels['series']);
      const values = samples.map(({ bits }) => toNumber(bits));
      assert.ok(
        values.every((one) => one >= beside),
        `round ${round}: a deleted one is back`,
      );
      const wanted = later.filter((one) => one.series === series).map((one) => one.value);
      const since = values.filter((one) => one >= beside + 8);
      assert.deepEqual(since, wanted, `round ${round}, series ${series}`);
    }
    assert.equal(stored.length, 3, `round ${round}`);
  }
});
