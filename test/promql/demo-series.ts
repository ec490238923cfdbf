/**
 * Series with the names and labels that the queries of the PromQL compliance tester expect: those
 * of a demo service on three instances.
 */
import { toSample, type WrittenSeries } from '../harness/prompb.ts';
import { createRandom } from '../harness/random.ts';

const scrapeMs = 15_000;
/** Between the steps, where versions of Prometheus treat the start of a range alike. */
const jitterMs = 317;
const instances = ['10000', '10001', '10002'].map((port) => `demo.promlabs.com:${port}`);
const bounds = ['0.0001', '0.001', '0.01', '0.1', '+Inf'];
const staleMarker = 0x7ff0000000000002n;

type Labels = Readonly<Record<string, string>>;

/** @param endMs a multiple of a minute */
export function demoSeries(seed: number, endMs: number, samples: number): WrittenSeries[] {
  const random = createRandom(seed);
  const timeOf = (step: number) => endMs - (samples - step) * scrapeMs + jitterMs;
  const series = (labels: Labels, valueOf: (step: number) => number): WrittenSeries => ({
    labels,
    samples: Array.from({ length: samples }, (_, step) => toSample(timeOf(step), valueOf(step))),
  });
  const gauge = (labels: Labels, scale: number) => {
    let value = scale * (1 + random.next());
    return series(labels, () => (value += scale * 0.01 * (random.next() - 0.5)));
  };
  const counter = (labels: Labels, pace: number) => {
    let value = 1000 * random.next();
    return series(labels, () => (value = random.next() < 0.01 ? 0 : value + pace * random.next()));
  };
  return instances.flatMap((instance) => {
    const target = { instance, job: 'demo' };
    const intermittent = series({ __name__: 'demo_intermittent_metric', ...target }, () => 1);
    return [
      series({ __name__: 'demo_num_cpus', ...target }, () => 4),
      ...['free', 'used', 'buffers', 'cached'].map((type) =>
        gauge({ __name__: 'demo_memory_usage_bytes', ...target, type }, 1e9),
      ),
      ...['idle', 'system', 'user'].map((mode) =>
        counter({ __name__: 'demo_cpu_usage_seconds_total', ...target, mode }, 10),
      ),
      gauge({ __name__: 'demo_disk_usage_bytes', ...target }, 1e11),
      series({ __name__: 'demo_batch_last_success_timestamp_seconds', ...target }, (step) =>
        Math.floor(timeOf(step - (step % 20)) / 1000),
      ),
      { ...intermittent, samples: withGaps(intermittent.samples!) },
      ...['GET', 'POST'].flatMap((method) => histogram({ ...target, method, path: '/api/foo' })),
    ];
  });

  function histogram(labels: Labels): WrittenSeries[] {
    const name = 'demo_api_request_duration_seconds';
    const paces = bounds.map(() => random.integer(1, 20));
    const upTo = (count: number) => paces.slice(0, count).reduce((sum, pace) => sum + pace, 0);
    const all = upTo(bounds.length);
    return [
      ...bounds.map((le, i) =>
        series({ __name__: `${name}_bucket`, ...labels, le }, (step) => step * upTo(i + 1)),
      ),
      series({ __name__: `${name}_count`, ...labels }, (step) => step * all),
      series({ __name__: `${name}_sum`, ...labels }, (step) => step * all * 0.003),
    ];
  }
}

/** Of thirty samples ten are missing, after a stale marker. */
function withGaps(samples: NonNullable<WrittenSeries['samples']>) {
  return samples.flatMap((sample, step) => {
    if (step % 30 < 20) return [sample];
    return step % 30 === 20 ? [{ ...sample, bits: staleMarker }] : [];
  });
}
