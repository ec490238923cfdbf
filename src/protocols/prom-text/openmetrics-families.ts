/**
 * Families of OpenMetrics (https://prometheus.io/docs/specs/om/open_metrics_spec): the lines of
 * a family are contiguous, and its type determines the names and values of its samples.
 */
import {
  blankFamily,
  describeFamily,
  type Family,
  type FamilyRules,
  type Fault,
  isDescribed,
  quoteName,
  type Sample,
} from './families.ts';
import type { MetadataLine } from './metadata-line.ts';
import type { SeriesFacts } from './series-cache.ts';

/** Suffixes of sample names by type of the family. */
const suffixes: Readonly<Record<string, readonly string[]>> = {
  counter: ['_total', '_created'],
  gauge: [''],
  histogram: ['_bucket', '_count', '_sum', '_created'],
  gaugehistogram: ['_bucket', '_gcount', '_gsum'],
  stateset: [''],
  info: ['_info'],
  summary: ['', '_count', '_sum', '_created'],
  unknown: [''],
};
const exemplarTypes = ['counter_total', 'histogram_bucket', 'gaugehistogram_bucket'];

export class OpenMetricsFamilies implements FamilyRules {
  readonly #families: Family[] = [];
  /** Names of families and of their possible samples. */
  readonly #taken = new Set<string>();
  readonly #buckets = new BucketRules();
  #current: Family | undefined;
  #hasSamples = false;
  /** Name of the last sample, which the next one mostly repeats. */
  #lastName: string | undefined;
  #suffix = '';

  get size(): number {
    return this.#families.length;
  }

  describe(line: MetadataLine): Fault {
    let family = this.#current;
    if (family?.name !== line.name) {
      const fault = this.#open(line.name);
      if (fault !== '') return fault;
      family = this.#current!;
    } else if (this.#hasSamples) {
      return `the ${line.kind} line of ${quoteName(line.name)} must come before its samples`;
    }
    this.#lastName = undefined;
    return describeFamily(family, line) || checkUnit(family) || this.#takeNames(family, line);
  }

  take(sample: Sample): Fault {
    const { name } = sample.series;
    if (name !== this.#lastName) {
      const fault = this.#enter(name);
      if (fault !== '') return fault;
      this.#lastName = name;
    }
    return this.#check(sample);
  }

  exemplar(): Fault {
    if (exemplarTypes.includes(`${typeOf(this.#current)}${this.#suffix}`)) return '';
    return 'only _total of a counter and _bucket of a histogram may have an exemplar';
  }

  finish(): Fault {
    return this.#buckets.finish();
  }

  *described(): Iterable<Family> {
    for (const family of this.#families) if (isDescribed(family)) yield family;
  }

  /** Finds or opens the family of a sample name. */
  #enter(name: string): Fault {
    const family = this.#current;
    if (family !== undefined && name.startsWith(family.name)) {
      const suffix = name.slice(family.name.length);
      const allowed = suffixes[typeOf(family)]!;
      if (allowed.includes(suffix)) {
        this.#suffix = suffix;
        this.#hasSamples = true;
        return '';
      }
      if (suffix === '') {
        const words = allowed.join(' or ');
        return `samples of the ${typeOf(family)} ${quoteName(name)} must end in ${words}`;
      }
    }
    const fault = this.#open(name);
    this.#suffix = '';
    this.#hasSamples = true;
    return fault;
  }

  /** Opens a family and ends the previous one. */
  #open(name: string): Fault {
    const fault = this.#buckets.finish();
    if (fault !== '') return fault;
    if (this.#taken.has(name)) {
      return `${quoteName(name)} appeared before: the lines of a family must be contiguous`;
    }
    this.#taken.add(name);
    this.#current = blankFamily(name);
    this.#families.push(this.#current);
    this.#hasSamples = false;
    return '';
  }

  /** Reserves the sample names of the family: they must be unique. */
  #takeNames({ name }: Family, { kind, text }: MetadataLine): Fault {
    if (kind !== 'TYPE') return '';
    for (const suffix of suffixes[text]!) {
      if (suffix === '') continue;
      const sample = name + suffix;
      if (this.#taken.has(sample)) return `${quoteName(sample)} belongs to another family already`;
      this.#taken.add(sample);
    }
    return '';
  }

  #check(sample: Sample): Fault {
    const { series, value } = sample;
    switch (typeOf(this.#current)) {
      case 'counter':
        return this.#suffix === '_total' ? checkCount(value) : '';
      case 'histogram':
      case 'gaugehistogram':
        return this.#checkHistogram(sample);
      case 'summary':
        return checkSummary(series, this.#suffix, value);
      case 'info':
        return value === 1 ? '' : 'the value of an info must be 1';
      case 'stateset':
        if (!series.isState) return `a state needs the label ${quoteName(series.name)}`;
        return value === 0 || value === 1 ? '' : 'the value of a state must be 0 or 1';
      default:
        return '';
    }
  }

  #checkHistogram(sample: Sample): Fault {
    const { le } = sample.series;
    if (this.#suffix === '_bucket') {
      if (le === undefined) return 'a bucket needs the label "le"';
      if (Number.isNaN(le)) return 'the label "le" of a bucket must be a number';
    }
    const isCount = this.#suffix !== '_sum' && this.#suffix !== '_gsum';
    const fault = isCount && this.#suffix !== '_created' ? checkCount(sample.value) : '';
    return fault || this.#buckets.take(sample, this.#suffix);
  }
}

function typeOf(family: Family | undefined): string {
  return family?.type ?? 'unknown';
}

function checkUnit({ name, type, unit = '' }: Family): Fault {
  if (unit === '') return '';
  if (type === 'info' || type === 'stateset') return `metrics of type ${type} have no unit`;
  if (name.endsWith(`_${unit}`)) return '';
  return `the name ${quoteName(name)} must end in its unit, ${quoteName(`_${unit}`)}`;
}

function checkCount(value: number): Fault {
  return value >= 0 ? '' : 'a count cannot be negative or NaN';
}

function checkSummary({ quantile }: SeriesFacts, suffix: string, value: number): Fault {
  if (suffix === '_count') return checkCount(value);
  if (suffix !== '') return '';
  if (quantile === undefined) return 'a sample of a summary needs the label "quantile"';
  if (quantile >= 0 && quantile <= 1) return '';
  return 'the label "quantile" of a summary must be a number from 0 to 1';
}

/**
 * Checks the buckets of each histogram at each time: ascending bounds, non-decreasing counts, and
 * a last bucket +Inf that equals the count.
 */
class BucketRules {
  /** Labels of the current histogram, '[]' for none; '' between two families. */
  #group = '';
  #low = 0;
  #high = 0;
  #bound = Number.NaN;
  #count = Number.NaN;
  #total = Number.NaN;
  /** Finished histograms of this family. */
  readonly #closed = new Set<string>();

  take({ series, value, time }: Sample, suffix: string): Fault {
    if (series.group !== this.#group || time.low !== this.#low || time.high !== this.#high) {
      const fault = this.#close();
      if (fault !== '') return fault;
      this.#group = series.group;
      this.#low = time.low;
      this.#high = time.high;
      if (this.#closed.has(this.#key())) {
        return 'the samples of one histogram at one time must be contiguous';
      }
    }
    if (suffix === '_bucket') return this.#takeBucket(series.le!, value);
    if (suffix === '_count' || suffix === '_gcount') this.#total = value;
    return '';
  }

  /** Ends the family. */
  finish(): Fault {
    if (this.#group === '') return '';
    const fault = this.#close();
    this.#group = '';
    this.#closed.clear();
    return fault;
  }

  #takeBucket(bound: number, count: number): Fault {
    if (bound <= this.#bound) return 'buckets must be in the order of their label "le"';
    if (count < this.#count) return 'a bucket cannot count less than the one before it';
    this.#bound = bound;
    this.#count = count;
    return '';
  }

  /** A histogram may have no buckets: exporters send native histograms like that in text. */
  #close(): Fault {
    if (this.#group === '') return '';
    const [bound, count, total] = [this.#bound, this.#count, this.#total];
    this.#bound = Number.NaN;
    this.#count = Number.NaN;
    this.#total = Number.NaN;
    this.#closed.add(this.#key());
    if (Number.isNaN(bound)) return '';
    if (bound !== Number.POSITIVE_INFINITY) {
      return 'the histogram before this line has no bucket with le="+Inf"';
    }
    if (Number.isNaN(total) || total === count) return '';
    return `the histogram before this line counts ${total}, but its bucket +Inf ${count}`;
  }

  #key(): string {
    return `${this.#high}:${this.#low}:${this.#group}`;
  }
}
