/**
 * Random PromQL that Prometheus 2.42 and 3 evaluate alike, over the series of `agreementSeries`:
 * counters, gauges and a classic histogram, each by job and instance.
 */
import { createRandom, type Random } from '../harness/random.ts';
import type { WrittenSeries } from '../harness/prompb.ts';
import { toSample } from '../harness/prompb.ts';

const scrapeMs = 15_000;
/** Samples lie between the steps, where versions treat the start of a range alike. */
const jitterMs = 317;
const jobs = ['api', 'web', 'db'] as const;
const instances = ['a', 'b'] as const;
const bounds = ['0.1', '0.5', '2.5', '+Inf'] as const;
const staleMarker = 0x7ff0000000000002n;

/** @param endMs a multiple of a minute. */
export function agreementSeries(seed: number, endMs: number, samples: number): WrittenSeries[] {
  const random = createRandom(seed);
  const all: WrittenSeries[] = [];
  for (const job of jobs) {
    for (const instance of instances) {
      const labels = { job, instance };
      const counter = walk(random, () => random.next() * 10, { resets: 0.01, from: 1e6 });
      all.push(series({ __name__: 'requests_total', ...labels }, counter));
      const gauge = walk(random, () => random.next() * 4 - 2, { resets: 0, from: 5 });
      all.push(series({ __name__: 'level', ...labels }, gauge));
      all.push(series({ __name__: 'limit', job, instance, kind: 'soft' }, () => 10 + job.length));
      const observed = bounds.map(() => random.integer(1, 20));
      for (const [i, le] of bounds.entries()) {
        const perScrape = observed.slice(0, i + 1).reduce((sum, one) => sum + one);
        const name = { __name__: 'latency_bucket', ...labels, le };
        all.push(series(name, (step) => perScrape * (step + 1000)));
      }
    }
  }
  return all;

  function series(labels: Record<string, string>, valueOf: (step: number) => number) {
    const written = Array.from({ length: samples }, (_, step) => {
      const timeMs = endMs - (samples - step) * scrapeMs + jitterMs;
      return toSample(timeMs, valueOf(step));
    });
    // Some series end, and one of them comes back.
    if (labels['instance'] !== 'b' || labels['job'] !== 'db') return { labels, samples: written };
    const gone = Math.floor(samples / 2);
    const marker = { timeMs: written[gone]!.timeMs, bits: staleMarker };
    const kept = [...written.slice(0, gone), marker];
    return { labels, samples: [...kept, ...written.slice(gone + 40)] };
  }
}

function walk(
  random: Random,
  step: () => number,
  { resets, from }: { readonly resets: number; readonly from: number },
): () => number {
  let value = from;
  return () => {
    value = random.next() < resets ? 0 : value + step();
    return value;
  };
}

export function randomQuery(random: Random): string {
  return vector(random, 3);
}

function vector(random: Random, depth: number): string {
  if (depth === 0) return selector(random);
  const inner = () => vector(random, depth - 1);
  switch (random.integer(0, 11)) {
    case 0:
    case 1:
      return selector(random);
    case 2:
    case 3:
      return `${random.pick(rangeFunctions)}(${range(random, depth)})`;
    case 4:
    case 5:
      return `${random.pick(aggregations)} ${grouping(random)} (${inner()})`;
    case 6:
      return `${inner()} ${random.pick(scalarOperators)} ${random.integer(1, 20)}`;
    case 7:
      return `${random.pick(sampleFunctions)}(${inner()})`;
    case 8:
      return paired(random);
    case 9:
      return random.pick([
        `quantile_over_time(0.${random.integer(1, 9)}, ${range(random, depth)})`,
        `predict_linear(level[${minutes(random)}], ${random.integer(1, 600)})`,
        `histogram_quantile(0.${random.integer(1, 99)}, rate(latency_bucket[${minutes(random)}]))`,
        `histogram_quantile(0.9, sum by (le) (rate(latency_bucket[${minutes(random)}])))`,
        `quantile by (job) (0.${random.integer(1, 9)}, ${inner()})`,
      ]);
    case 10:
      return random.pick([
        `label_replace(${inner()}, "copy", "x-$1", "job", "(.).*")`,
        `clamp(${inner()}, 2, ${random.integer(3, 50)})`,
        `round(${inner()}, 0.${random.integer(1, 9)})`,
        `${random.pick(dateFunctions)}(${selector(random)})`,
        `-(${inner()})`,
        `absent(${selector(random)} > 1e9)`,
        `vector(scalar(sum(${inner()})))`,
      ]);
    default:
      return setOperation(random);
  }
}

const names = ['requests_total', 'level', 'limit'] as const;
const matchers = ['', '{job="api"}', '{job=~"a.*|web"}', '{instance!="a"}', '{job!~"d."}'] as const;
const modifiers = [
  '',
  '',
  '',
  ' offset 2m',
  ' offset -90s',
  ' @ end()',
  ' @ start() offset 1m',
] as const;
const rangeFunctions = [
  'rate',
  'increase',
  'irate',
  'delta',
  'idelta',
  'deriv',
  'changes',
  'resets',
  'sum_over_time',
  'avg_over_time',
  'min_over_time',
  'max_over_time',
  'count_over_time',
  'last_over_time',
  'present_over_time',
  'stddev_over_time',
  'stdvar_over_time',
] as const;
const aggregations = ['sum', 'avg', 'min', 'max', 'count', 'group', 'stddev', 'stdvar'] as const;
const scalarOperators = ['+', '-', '*', '/', '%', '>', '<=', '!=', '> bool', '== bool'] as const;
const sampleFunctions = [
  'abs',
  'ceil',
  'floor',
  'sgn',
  'sqrt',
  'ln',
  'log2',
  'sin',
  'atan',
  'timestamp',
] as const;
/** Of numbers: what Prometheus makes of a NaN depends on the processor. */
const dateFunctions = ['minute', 'day_of_year'] as const;

function selector(random: Random): string {
  return random.pick(names) + random.pick(matchers) + random.pick(modifiers);
}

function minutes(random: Random): string {
  return `${random.integer(1, 12)}m`;
}

function range(random: Random, depth: number): string {
  if (depth > 1 && random.next() < 0.25) {
    return `(${vector(random, depth - 2)})[${minutes(random)}:${random.pick(['40s', '1m', '2m'])}]`;
  }
  const name = random.pick(names);
  return `${name}${random.pick(matchers)}[${minutes(random)}]${random.pick(modifiers)}`;
}

function grouping(random: Random): string {
  return random.pick(['', 'by (job)', 'by (instance, job)', 'without (instance)', 'by (none)']);
}

function paired(random: Random): string {
  const operator = random.pick(['+', '-', '*', '/', '>', '== bool']);
  return random.pick([
    `level ${operator} ignoring (kind) limit`,
    `level ${operator} on (job, instance) limit`,
    `requests_total ${operator} on (job) group_left sum by (job) (level)`,
    `max by (instance) (level) ${operator} on (instance) group_right limit`,
    `rate(requests_total[5m]) ${operator} on (job, instance) group_left (kind) limit`,
  ]);
}

function setOperation(random: Random): string {
  const operator = random.pick(['and', 'or', 'unless']);
  const matching = random.pick(['on (job, instance)', 'ignoring (kind)', 'on (job)']);
  return `(level > ${random.integer(0, 10)}) ${operator} ${matching} ${selector(random)}`;
}
