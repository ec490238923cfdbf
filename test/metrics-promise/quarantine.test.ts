/** A quarantined batch does not remove the labels of other batches' series. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { metricHeaderBytes, sectionOf } from '../../src/codec/metric-rows.ts';
import { toSample } from '../harness/prompb.ts';
import { metricBatch, type MetricFixture } from '../store/metric-fixture.ts';
import { openPipeline, type Pipeline } from './pipeline.ts';

const nowMs = Date.UTC(2026, 4, 20, 12);

let pipeline: Pipeline;
before(async () => {
  pipeline = await openPipeline({ nowMs });
});
after(() => pipeline.close());

test('reads samples whose labels came with a quarantined batch', async () => {
  const streamId = await pipeline.createStream();
  const owner = { accountId: pipeline.accountId, streamId, receiverId: 'rcv_test' };
  const bring = (metric: Omit<MetricFixture, 'name'>) =>
    metricBatch([{ ...metric, name: 'aside' }], { owner, receivedAtNanos: 0n });
  const { queue } = pipeline.parts;
  const bad = bring({ samples: [[nowMs, 1]] });
  // More ids than exist.
  bad.payload[metricHeaderBytes + sectionOf(bad.payload, 'series').length] = 100;
  const appended = [bad, bring({ samples: [[nowMs + 1, 2]], isKnown: true })].map((batch) =>
    queue.append(batch, owner),
  );
  await Promise.all(appended);
  const [series] = await pipeline.read('aside');
  assert.equal(queue.status().quarantinedBatches, 1);
  assert.deepEqual(series?.samples, [toSample(nowMs + 1, 2)]);
});
