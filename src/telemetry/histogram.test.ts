/** Our histogram beside that of prom-client. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AggregatorRegistry, Histogram as PromHistogram, Registry } from 'prom-client';
import { Histogram } from './histogram.ts';

const observed = [0, 0.1, 0.25, 0.1000001, 3, 1, 1e9] as const;

/** The registries of both, which should be the same. */
function observeBoth(): [ours: Registry, theirs: Registry] {
  const [ours, theirs] = [new Registry(), new Registry()];
  const labelled = { name: 'a_seconds', help: 'A', labelNames: ['kind', 'status'] };
  const plain = { name: 'b_seconds', help: 'B', labelNames: [] };
  const idle = { name: 'c_seconds', help: 'C', labelNames: [] };
  const buckets = [0.1, 0.25, 1];
  const ourA = new Histogram<'kind' | 'status'>({ ...labelled, buckets }, ours);
  const ourB = new Histogram({ ...plain, buckets }, ours);
  new Histogram({ ...idle, buckets }, ours);
  const registers = [theirs];
  const theirA = new PromHistogram({ ...labelled, buckets, registers });
  const theirB = new PromHistogram({ ...plain, buckets, registers });
  new PromHistogram({ ...idle, buckets, registers });
  for (const seconds of observed) {
    ourB.observe(seconds);
    theirB.observe(seconds);
    for (const labels of [
      { kind: 'x', status: 200 },
      { kind: 'x\ny', status: 200 },
      { kind: 'x', status: 500 },
    ]) {
      ourA.observe(seconds, labels);
      theirA.observe(labels, seconds);
    }
  }
  return [ours, theirs];
}

test('exports what prom-client would', async () => {
  const [ours, theirs] = observeBoth();
  assert.equal(await ours.metrics(), await theirs.metrics());
});

test('adds up over processes as that of prom-client', async () => {
  const [ours, theirs] = observeBoth();
  const sum = async (registry: Registry) => {
    const list = await registry.getMetricsAsJSON();
    return AggregatorRegistry.aggregate([list, list]).metrics();
  };
  assert.equal(await sum(ours), await sum(theirs));
});

test('forgets what was observed as that of prom-client', async () => {
  const [ours, theirs] = observeBoth();
  ours.resetMetrics();
  theirs.resetMetrics();
  assert.equal(await ours.metrics(), await theirs.metrics());
});
