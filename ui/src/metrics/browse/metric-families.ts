/** Metrics as people know them: the series of a histogram are one family. Pure. */
import { type MetricType, metricTypes } from '../../../../src/model/metric-types.ts';
import { type BuiltQuery, isBuckets, plainQuery } from '../build/built-query.ts';

export interface MetricFamily {
  readonly name: string;
  /** Told by the sender, or guessed from the name. */
  readonly type: MetricType;
  readonly unit: string;
  readonly help: string;
  /** The metric to begin with: `x_bucket` of a classic histogram `x`. */
  readonly metric: string;
}

export type Metadata = Readonly<
  Record<string, readonly { readonly type: string; readonly help: string; readonly unit: string }[]>
>;

const partSuffix = /_(?:bucket|sum|count|total|created|info)$/;

/** @param names of metrics that have samples */
export function toFamilies(names: readonly string[], metadata: Metadata): MetricFamily[] {
  const present = new Set(names);
  const families = new Map<string, MetricFamily>();
  for (const metric of names) {
    const family = familyOf(metric, metadata, present);
    const known = families.get(family.name);
    // Of the parts of a histogram the buckets say most.
    if (known === undefined || isBuckets(metric)) families.set(family.name, family);
  }
  return [...families.values()];
}

function familyOf(metric: string, metadata: Metadata, present: ReadonlySet<string>): MetricFamily {
  const base = metric.replace(partSuffix, '');
  const own = entryOf(metadata, metric);
  const ofBase = own ?? entryOf(metadata, base);
  const isPart = base !== metric && own === undefined && isParted(ofBase?.type, base, present);
  const name = isPart ? base : metric;
  const type = isPart && present.has(`${base}_bucket`) ? 'histogram' : typeOf(metric, ofBase?.type);
  return { name, type, unit: unitOf(base, ofBase?.unit), help: ofBase?.help ?? '', metric };
}

function entryOf(metadata: Metadata, name: string) {
  return Object.hasOwn(metadata, name) ? metadata[name]?.[0] : undefined;
}

/** Whether the family is spread over several metrics. */
function isParted(type: string | undefined, base: string, present: ReadonlySet<string>): boolean {
  if (type === undefined) return present.has(`${base}_bucket`);
  return type === 'histogram' || type === 'gaugehistogram' || type === 'summary';
}

/** By the name where the sender tells none (https://prometheus.io/docs/practices/naming/). */
function typeOf(metric: string, told: string | undefined): MetricType {
  const known = metricTypes.find((type) => type === told);
  if (known !== undefined && known !== 'unknown') return known;
  if (isBuckets(metric)) return 'histogram';
  return /_(?:total|count|sum)$/.test(metric) ? 'counter' : 'unknown';
}

/** `seconds`, `bytes` or `ratio` also where only the name tells it. */
function unitOf(base: string, told: string | undefined): string {
  if (told !== undefined && told !== '') return told;
  return /_(seconds|bytes|ratio)$/.exec(base)?.[1] ?? '';
}

/** What is usually asked of a metric of this type. */
export function defaultQueryOf(metric: string, told: MetricType | undefined): BuiltQuery {
  const type = told === undefined || told === 'unknown' ? typeOf(metric, undefined) : told;
  const isPart = /_(?:sum|count)$/.test(metric);
  if (type === 'histogram' && !isPart) {
    return { ...plainQuery, metric, calculation: 'rate', quantile: 0.95, combine: 'sum' };
  }
  const isCounter = type === 'counter' || ((type === 'histogram' || type === 'summary') && isPart);
  return { ...plainQuery, metric, calculation: isCounter ? 'rate' : 'value' };
}

/** Families that have all words in their name, help, type or unit. */
export function searchFamilies(families: readonly MetricFamily[], text: string): MetricFamily[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return families.filter(({ name, help, type, unit }) => {
    const all = `${name} ${help} ${type} ${unit}`.toLowerCase();
    return words.every((word) => all.includes(word));
  });
}
