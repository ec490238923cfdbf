/** Reads the data points of one request, writes them or rejects them. */
import type { MetricWriter } from '../../../codec/metric-writer.ts';
import type { ProtobufWire } from '../../../codec/protobuf-wire.ts';
import { Rejections } from '../../../codec/rejections.ts';
import type { LabelLimits } from '../../../codec/series-labels.ts';
import type { SeriesMemo } from '../../../codec/series-memo.ts';
import { AppError } from '../../../model/errors.ts';
import type { Label } from '../../../model/metric-plan.ts';
import type { DecodeContext } from '../../../model/protocol.ts';
import { WarningCounts } from '../log-record.ts';
import { AttributeReader } from './attribute-reader.ts';
import { DataPoint, toTime } from './data-point.ts';
import { type LabelRules, type ResourceLabels, toPointLabels } from './metric-labels.ts';
import { type Metric, metricWarnings } from './metric-reader.ts';
import { toMetricName, toUnitName } from './metric-names.ts';
import { type PointExemplar, readExemplar } from './point-exemplars.ts';
import { type Fault, PointRows, type Totals } from './point-rows.ts';
import { PointSeries } from './point-series.ts';

/** A larger data point, resource or scope is a mistake, and is not split into slices. */
export const maxMessageBytes = 256 * 1024;
/** Prometheus' look-back is twice as long. */
const targetIntervalMs = 150_000;
/** Of one resource in one request. */
const maxTargetSamples = 100;
const newSeriesCost = 4096;
/** Of a bucket or exemplar. */
const rowCost = 64;
/** No scope has it. */
const targetDigest = Buffer.alloc(16);

const badLabelName = 'attribute key that cannot name a label';

export interface MetricsOptions {
  readonly labels: LabelLimits;
  readonly rules: LabelRules;
  /** Limit on the labels of new series in one request. */
  readonly maxLabelBytes: number;
  readonly memo: SeriesMemo;
  readonly totals: Totals;
}

export interface MetricsParts {
  readonly writer: MetricWriter;
  readonly warnings: WarningCounts;
  readonly options: MetricsOptions;
  readonly context: DecodeContext;
}

/** What the points of a scope share. */
export interface Owner {
  readonly resource: ResourceLabels;
  readonly resourceDigest: Buffer;
  readonly scope: readonly Label[];
  readonly scopeDigest: Buffer;
}

export class PointReader {
  readonly rejections: Rejections;
  readonly #parts: MetricsParts;
  readonly #wire: ProtobufWire;
  readonly #attributes: AttributeReader;
  /** Without warnings: those of a known series are not read again. */
  readonly #ofSeries: AttributeReader;
  readonly #series: PointSeries;
  readonly #rows: PointRows;
  readonly #point = new DataPoint();
  readonly #described = new Set<string>();
  #points = 0;
  #cost = 0;
  /** Of the current metric. */
  #metric: Metric | undefined;
  #owner: Owner | undefined;
  #name = '';
  #fault: Fault | undefined;
  /** Times of the points of the current resource. */
  #firstMs = Number.POSITIVE_INFINITY;
  #lastMs = 0;

  constructor(wire: ProtobufWire, attributes: AttributeReader, parts: MetricsParts) {
    const { writer, warnings, options, context } = parts;
    const { memo, labels, totals, maxLabelBytes } = options;
    this.#parts = parts;
    this.#wire = wire;
    this.#attributes = attributes;
    this.#ofSeries = new AttributeReader(wire, new WarningCounts(), context.limits.maxDepth);
    this.rejections = new Rejections(context.limits.maxRejections);
    this.#series = new PointSeries(memo, labels);
    const shared = { writer, series: this.#series, totals, maxLabelBytes, warnings };
    this.#rows = new PointRows(shared, context);
  }

  startResource(): void {
    this.#firstMs = Number.POSITIVE_INFINITY;
    this.#lastMs = 0;
  }

  /** @param owner undefined if an attribute of its resource or scope cannot name a label */
  startMetric(metric: Metric, owner: Owner | undefined): void {
    const named = { name: metric.name, unit: metric.unit, type: metric.namedAs };
    this.#metric = metric;
    this.#owner = owner;
    this.#name = toMetricName(named, this.#parts.options.rules);
    this.#fault = faultOfMetric(metric, this.#name, owner);
    if (owner === undefined || this.#fault !== undefined) return;
    this.#series.openMetric(this.#name, [owner.resourceDigest, owner.scopeDigest]);
    this.#describe(metric, this.#name);
  }

  /** Reads the data point from the cursor to `end`. @returns its cost beyond its bytes */
  read(end: number): number {
    this.#checkPoints();
    this.#cost = 0;
    const fault = this.#fault ?? this.#readPoint(this.#metric!, this.#owner!, end);
    if (fault !== undefined) this.#reject(fault);
    return this.#cost;
  }

  #checkPoints(): void {
    const { maxEvents } = this.#parts.context.limits;
    this.#points += 1;
    if (this.#points <= maxEvents) return;
    throw new AppError(
      'too_large',
      `cannot accept more than ${maxEvents} data points in one request: ` +
        'split the batch, or raise ingest.otlpMaxRecords',
    );
  }

  #reject({ reason, example }: Fault): void {
    const name = this.#name;
    const where = name === '' ? '' : `metric ${JSON.stringify(name.slice(0, 200))}`;
    const text = [where, example].filter((part) => part !== '').join(', ');
    this.rejections.add(this.#points - 1, reason, 1, text);
  }

  #readPoint(metric: Metric, owner: Owner, end: number): Fault | undefined {
    const wire = this.#wire;
    const point = this.#point;
    if (end - wire.at > maxMessageBytes) {
      return { reason: 'data point too large', example: `more than ${maxMessageBytes} bytes` };
    }
    point.clear();
    point.read(wire, metric.kind, end);
    if (point.timeMs === 0) {
      this.#parts.warnings.add(metricWarnings.noTime);
      point.timeMs = this.#parts.context.nowMs;
    }
    this.#firstMs = Math.min(this.#firstMs, point.timeMs);
    this.#lastMs = Math.max(this.#lastMs, point.timeMs);
    this.#series.openPoint(wire.bytes, point.attributes, () => {
      this.#cost += newSeriesCost;
      const attributes = this.#ofSeries.readRanges(point.attributes);
      return toPointLabels(attributes, owner, this.#parts.options.rules) ?? badLabelName;
    });
    const exemplars = metric.kind === 'gauge' ? [] : this.#readExemplars(point);
    this.#cost += rowCost * (point.buckets + point.exemplars.length);
    const { writer } = this.#parts;
    const mark = writer.mark();
    const refused = this.#rows.write(point, metric, exemplars);
    // At the limit of series some of its samples may have been accepted.
    if (refused !== undefined) writer.rewind(mark);
    return refused;
  }

  #readExemplars({ exemplars: ranges, timeMs }: DataPoint): PointExemplar[] {
    const exemplars: PointExemplar[] = [];
    if (ranges.length === 0) return exemplars;
    const wire = this.#wire;
    const { labels: limits } = this.#parts.options;
    const reading = { attributes: this.#attributes, limits, pointTime: toTime(timeMs) };
    for (let range = 0; range < ranges.length; range += 2) {
      wire.at = ranges[range]!;
      wire.tag(ranges[range + 1]!);
      wire.lengthEnd(ranges[range + 1]!);
      const exemplar = readExemplar(wire, ranges[range + 1]!, reading);
      if (typeof exemplar !== 'string') exemplars.push(exemplar);
      else this.#parts.warnings.add(`exemplar left out: ${exemplar}`);
    }
    return exemplars;
  }

  /** Once per request and family. */
  #describe({ type, unit, description }: Metric, name: string): void {
    if (this.#described.has(name)) return;
    this.#described.add(name);
    const { maxLabelValueLength } = this.#parts.options.labels;
    if (Math.max(description.length, unit.length, name.length) > maxLabelValueLength) {
      this.#parts.warnings.add(metricWarnings.longMetadata);
      return;
    }
    this.#parts.writer.metadata({ name, type, unit: toUnitName(unit), help: description });
  }

  /** `target_info` of a resource, as often as a query at any time of its points needs it. */
  writeTarget(labels: readonly Label[], digest: Buffer): void {
    const [first, last] = [this.#firstMs, this.#lastMs];
    if (first > last) return;
    const series = this.#series;
    series.openMetric('target_info', [digest, targetDigest]);
    series.openPoint(this.#wire.bytes, [], () => [...labels]);
    const step = Math.max(targetIntervalMs, Math.ceil((last - first) / maxTargetSamples));
    let fault: Fault | undefined;
    for (let at = first; at < last; at += step) fault ??= this.#rows.writeOne(at);
    fault ??= this.#rows.writeOne(last);
    if (fault !== undefined) this.#parts.warnings.add(`target_info left out: ${fault.reason}`);
    else if (!this.#described.has('target_info')) {
      this.#described.add('target_info');
      const metadata = { name: 'target_info', type: 'gauge', unit: '', help: 'Target metadata' };
      this.#parts.writer.metadata(metadata);
    }
  }
}

/** The fault of all points of a metric. */
function faultOfMetric(metric: Metric, name: string, owner: Owner | undefined): Fault | undefined {
  if (owner === undefined) return { reason: badLabelName, example: 'of its resource or scope' };
  if (name === '') return { reason: 'no metric name', example: '' };
  if (metric.hasTemporality) return undefined;
  return { reason: 'neither cumulative nor delta', example: '' };
}
