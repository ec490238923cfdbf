/** The semantics of metric reads in plain JavaScript over an array. */
import type {
  LabelMatcher,
  SamplesPlan,
  Selector,
  SeriesPlan,
} from '../../src/model/metric-plan.ts';
import { toDay } from '../../src/codec/metric-rows.ts';
import { compareUtf8 } from '../../src/codec/series-labels.ts';
import type { Label } from '../../src/model/metric-plan.ts';

export interface StoredSample {
  readonly accountId: string;
  readonly streamId: string;
  /** Unix ns. */
  readonly receivedAtNanos: bigint;
  /** Canonical form. */
  readonly labels: readonly Label[];
  readonly timeMs: number;
  readonly bits: bigint;
}

/** The series of a plan, sorted, each with [time, bits] sorted by time. */
export function expectedSamples(stored: readonly StoredSample[], plan: SamplesPlan) {
  const found = stored.filter(
    (sample) =>
      isKept(sample, plan, 0n) &&
      sample.timeMs >= plan.fromMs &&
      sample.timeMs <= plan.untilMs &&
      fitsAny(plan.selectors, sample.labels),
  );
  return bySeries(found).map(([labels, samples]) => {
    const last = new Map<number, StoredSample>();
    // In insert order; a later second of receipt takes precedence.
    for (const sample of samples) {
      const before = last.get(sample.timeMs);
      if (before === undefined || second(sample) >= second(before)) last.set(sample.timeMs, sample);
    }
    const sorted = [...last].sort(([a], [b]) => a - b);
    return { labels, samples: sorted.map(([time, { bits }]) => [BigInt(time), bits]) };
  });
}

export function expectedSeries(
  stored: readonly StoredSample[],
  plan: SeriesPlan,
): (readonly Label[])[] {
  const days = [toDay(Number(plan.fromMs)), toDay(Number(plan.untilMs))] as const;
  const found = stored.filter(
    (sample) =>
      isKept(sample, plan, labelsLeadNanos) &&
      toDay(sample.timeMs) >= days[0] &&
      toDay(sample.timeMs) <= days[1] &&
      fitsAny(plan.selectors, sample.labels),
  );
  return bySeries(found).map(([labels]) => labels);
}

const labelsLeadNanos = 25n * 3_600_000_000_000n;

function isKept(
  sample: StoredSample,
  plan: Pick<SamplesPlan, 'accountId' | 'streams'>,
  leadNanos: bigint,
): boolean {
  if (sample.accountId !== plan.accountId) return false;
  const stream = plan.streams.find(({ streamId }) => streamId === sample.streamId);
  if (stream === undefined) return false;
  if (leadNanos > 0n) return sample.receivedAtNanos >= stream.receivedFromNanos - leadNanos;
  return second(sample) * 1_000_000_000n >= stream.receivedFromNanos;
}

function second({ receivedAtNanos }: StoredSample): bigint {
  return receivedAtNanos / 1_000_000_000n;
}

function fitsAny(selectors: readonly Selector[], labels: readonly Label[]): boolean {
  if (selectors.length === 0) return true;
  return selectors.some((selector) => selector.every((matcher) => fits(matcher, labels)));
}

function fits({ name, type, value }: LabelMatcher, labels: readonly Label[]): boolean {
  const actual = labels.find(([label]) => label === name)?.[1] ?? '';
  switch (type) {
    case 'equal':
      return actual === value;
    case 'notEqual':
      return actual !== value;
    case 'matches':
      return new RegExp(`^(?:${value})$`, 'su').test(actual);
    case 'notMatches':
      return !new RegExp(`^(?:${value})$`, 'su').test(actual);
  }
}

function bySeries(samples: readonly StoredSample[]) {
  const groups = [...Map.groupBy(samples, ({ labels }) => JSON.stringify(labels)).values()];
  return groups
    .map((group) => [group[0]?.labels ?? [], group] as const)
    .sort(([a], [b]) => compareLabels(a, b));
}

function compareLabels(a: readonly Label[], b: readonly Label[]): number {
  for (const [index, [name, value]] of a.entries()) {
    const other = b[index];
    if (other === undefined) return 1;
    const order = compareUtf8(name, other[0]) || compareUtf8(value, other[1]);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}
