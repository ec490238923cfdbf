/** Metrics of several processes as those of one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { sumOfMetrics, withoutGauges } from './supervisor.ts';

async function metricsOf(requests: number, level: number, seconds: number) {
  const registers = [new Registry()];
  const help = 'help';
  new Counter({ name: 'requests', help, labelNames: ['by'], registers }).inc({ by: 'a' }, requests);
  new Gauge({ name: 'level', help, registers }).set(level);
  new Histogram({ name: 'seconds', help, buckets: [1, 2], registers }).observe(seconds);
  return registers[0]!.getMetricsAsJSON();
}

test('sums the metrics of several processes', async () => {
  const text = await sumOfMetrics([
    await metricsOf(1, 10, 0.5),
    await metricsOf(2, 20, 1.5),
  ]).metrics();
  for (const line of ['requests{by="a"} 3', 'level 30', 'seconds_bucket{le="1"} 1']) {
    assert.ok(text.includes(line), `${line} in ${text}`);
  }
  assert.match(text, /seconds_bucket\{le="\+Inf"\} 2\nseconds_sum 2\nseconds_count 2/);
});

test('keeps the counters of a process that exited', async () => {
  const gone = withoutGauges(await metricsOf(5, 50, 0.5));
  const text = await sumOfMetrics([await metricsOf(1, 10, 0.5), gone]).metrics();
  assert.match(text, /requests\{by="a"\} 6/);
  assert.match(text, /level 10/);
  assert.match(text, /seconds_count 2/);
});
