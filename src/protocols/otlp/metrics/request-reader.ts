/**
 * Reads `opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest` from protobuf into
 * rows. Fields that apply to a whole message may follow its parts, so that messages are read twice.
 */
import { hash } from 'node:crypto';
import type { MetricWriter } from '../../../codec/metric-writer.ts';
import { ProtobufWire, toTag, wireType } from '../../../codec/protobuf-wire.ts';
import { addCount, Rejections } from '../../../codec/rejections.ts';
import type { LabelLimits } from '../../../codec/series-labels.ts';
import type { SeriesMemo } from '../../../codec/series-memo.ts';
import type { Batch } from '../../../model/batch.ts';
import { AppError } from '../../../model/errors.ts';
import { maxRowsPerBatch } from '../../../model/log-id.ts';
import type { Label } from '../../../model/metric-plan.ts';
import type { DecodeContext } from '../../../model/protocol.ts';
import type { WarningCounts } from '../log-record.ts';
import { AttributeReader } from './attribute-reader.ts';
import { DataPoint, toTime } from './data-point.ts';
import {
  type LabelRules,
  type ResourceLabels,
  toPointLabels,
  toResourceLabels,
  toScopeLabels,
} from './metric-labels.ts';
import { readMetric, type Metric, metricWarnings } from './metric-reader.ts';
import { toMetricName, toUnitName } from './metric-names.ts';
import { readExemplar, type PointExemplar } from './point-exemplars.ts';
import { type Fault, PointRows, type Totals } from './point-rows.ts';
import { PointSeries } from './point-series.ts';

const { bytes, varint } = wireType;
const requestTag = toTag(1, bytes);
const resourceMetricsTags = {
  resource: toTag(1, bytes),
  scopeMetrics: toTag(2, bytes),
};
const resourceTags = { attributes: toTag(1, bytes), dropped: toTag(2, varint) };
const scopeMetricsTags = {
  scope: toTag(1, bytes),
  metrics: toTag(2, bytes),
  schemaUrl: toTag(3, bytes),
};
const scopeTags = { name: toTag(1, bytes), version: toTag(2, bytes), attributes: toTag(3, bytes) };

/** Costs are in bytes of a body with known series. */
const sliceCost = 256 * 1024;
/** A larger data point, resource or scope is a mistake, and is not split into slices. */
const maxMessageBytes = 256 * 1024;
/** Prometheus' look-back is twice as long. */
const targetIntervalMs = 150_000;
/** Of one resource in one request. */
const maxTargetSamples = 100;

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
interface Owner {
  readonly resource: ResourceLabels;
  readonly resourceDigest: Buffer;
  readonly scope: readonly Label[];
  readonly scopeDigest: Buffer;
}

export class MetricsRequest {
  readonly #warnings: WarningCounts;
  readonly #options: MetricsOptions;
  readonly #context: DecodeContext;
  readonly #writer: MetricWriter;
  readonly #wire: ProtobufWire;
  readonly #attributes: AttributeReader;
  readonly #rejections: Rejections;
  readonly #series: PointSeries;
  readonly #rows: PointRows;
  readonly #rowWarnings = new Map<string, number>();
  readonly #point = new DataPoint();
  readonly #described = new Set<string>();
  #points = 0;
  #sliceEnd = 0;
  /** Times of the points of the current resource. */
  #firstMs = Number.POSITIVE_INFINITY;
  #lastMs = 0;

  constructor(body: Buffer, { writer, warnings, options, context }: MetricsParts) {
    this.#warnings = warnings;
    this.#options = options;
    this.#context = context;
    this.#writer = writer;
    this.#wire = new ProtobufWire(body);
    this.#attributes = new AttributeReader(this.#wire, warnings, context.limits.maxDepth);
    this.#rejections = new Rejections(context.limits.maxRejections);
    this.#series = new PointSeries(options.memo, options.labels);
    const { totals, maxLabelBytes } = options;
    const shared = { writer, series: this.#series, totals, maxLabelBytes };
    this.#rows = new PointRows({ ...shared, warnings: this.#rowWarnings }, context);
  }

  /** Yields between slices. @throws AppError `malformed` | `too_large` */
  *read(): Generator<undefined, void> {
    const wire = this.#wire;
    const end = wire.bytes.length;
    this.#sliceEnd = sliceCost;
    while (wire.at < end) {
      const tag = wire.tag(end);
      if (tag === requestTag) yield* this.#readResourceMetrics(wire.lengthEnd(end));
      else wire.skip(tag, end);
    }
  }

  /** @throws AppError `too_large` */
  finish(): Batch {
    const written = this.#writer.counts();
    for (const [word, count] of this.#rowWarnings) this.#warnings.add(word, count);
    return {
      layout: 'metrics/1',
      rows: this.#checkRows(),
      payload: this.#writer.finish(),
      ...this.#rejections.toBatch(),
      warnings: this.#warnings.take(),
      written,
    };
  }

  #checkRows(): number {
    const { samples, histograms, exemplars, metadata } = this.#writer.counts();
    const rows = samples + histograms + exemplars + metadata;
    if (rows > maxRowsPerBatch) throw tooManyRows();
    return rows;
  }

  *#readResourceMetrics(end: number): Generator<undefined, void> {
    const wire = this.#wire;
    const start = wire.at;
    const attributes = this.#readOwner(resourceMetricsTags.resource, end, (tag, resourceEnd) => {
      if (tag === resourceTags.attributes) this.#attributes.add(resourceEnd);
      else wire.skip(tag, resourceEnd);
    });
    const resource = toResourceLabels(attributes.labels, this.#options.rules);
    this.#firstMs = Number.POSITIVE_INFINITY;
    this.#lastMs = 0;
    wire.at = start;
    while (wire.at < end) {
      const tag = wire.tag(end);
      if (tag !== resourceMetricsTags.scopeMetrics) wire.skip(tag, end);
      else yield* this.#readScopeMetrics(wire.lengthEnd(end), resource, attributes.digest);
    }
    if (resource?.target !== undefined) this.#writeTarget(resource.target, attributes.digest);
    wire.at = end;
  }

  *#readScopeMetrics(
    end: number,
    resource: ResourceLabels | undefined,
    resourceDigest: Buffer,
  ): Generator<undefined, void> {
    const wire = this.#wire;
    const start = wire.at;
    const fields = { name: '', version: '', schemaUrl: '' };
    const { labels: attributes, digest } = this.#readOwner(
      scopeMetricsTags.scope,
      end,
      (tag, scopeEnd) => {
        if (tag === scopeTags.name) fields.name = this.#attributes.text(scopeEnd);
        else if (tag === scopeTags.version) fields.version = this.#attributes.text(scopeEnd);
        else if (tag === scopeTags.attributes) this.#attributes.add(scopeEnd);
        else wire.skip(tag, scopeEnd);
      },
      (tag) => {
        if (tag === scopeMetricsTags.schemaUrl) fields.schemaUrl = this.#attributes.text(end);
        else wire.skip(tag, end);
      },
    );
    const scope = toScopeLabels({ ...fields, attributes }, this.#options.rules);
    const scopeDigest = digestOf([digest, Buffer.from(fields.schemaUrl)]);
    const owner =
      resource === undefined || scope === undefined
        ? undefined
        : { resource, resourceDigest, scope, scopeDigest };
    wire.at = start;
    while (wire.at < end) {
      const tag = wire.tag(end);
      if (tag !== scopeMetricsTags.metrics) wire.skip(tag, end);
      else yield* this.#readMetric(wire.lengthEnd(end), owner);
    }
  }

  /** Reads all messages of one tag within the message from the cursor to `end`. */
  #readOwner(
    ownerTag: number,
    end: number,
    readField: (tag: number, end: number) => void,
    readOther: (tag: number) => void = (tag) => this.#wire.skip(tag, end),
  ): { readonly labels: Label[]; readonly digest: Buffer } {
    const wire = this.#wire;
    const parts: Buffer[] = [];
    while (wire.at < end) {
      const tag = wire.tag(end);
      if (tag !== ownerTag) {
        readOther(tag);
        continue;
      }
      const ownerEnd = wire.lengthEnd(end);
      if (ownerEnd - wire.at > maxMessageBytes) throw ownerTooLarge();
      parts.push(wire.bytes.subarray(wire.at, ownerEnd));
      this.#sliceEnd -= ownerEnd - wire.at;
      while (wire.at < ownerEnd) readField(wire.tag(ownerEnd), ownerEnd);
    }
    return { labels: this.#attributes.take(), digest: digestOf(parts) };
  }

  *#readMetric(end: number, owner: Owner | undefined): Generator<undefined, void> {
    const wire = this.#wire;
    const metric = readMetric(wire, this.#attributes, end);
    if (metric === undefined) {
      addCount(this.#rowWarnings, metricWarnings.empty);
      wire.at = end;
      return;
    }
    const named = { name: metric.name, unit: metric.unit, type: metric.namedAs };
    const name = toMetricName(named, this.#options.rules);
    const fault = faultOfMetric(metric, name, owner);
    if (fault === undefined) {
      this.#series.openMetric(name, [owner!.resourceDigest, owner!.scopeDigest]);
      this.#describe(metric, name);
    }
    wire.at = metric.dataStart;
    while (wire.at < metric.dataEnd) {
      const tag = wire.tag(metric.dataEnd);
      if (tag !== requestTag) {
        wire.skip(tag, metric.dataEnd);
        continue;
      }
      const pointEnd = wire.lengthEnd(metric.dataEnd);
      const failed = this.#startPoint() ?? fault ?? this.#readPoint(metric, owner!, pointEnd);
      if (failed !== undefined) this.#reject(failed, name);
      wire.at = pointEnd;
      if (wire.at < this.#sliceEnd) continue;
      this.#checkRows();
      yield;
      this.#sliceEnd = wire.at + sliceCost;
    }
    wire.at = end;
  }

  #startPoint(): undefined {
    const { maxEvents } = this.#context.limits;
    this.#points += 1;
    if (this.#points <= maxEvents) return undefined;
    throw new AppError(
      'too_large',
      `cannot accept more than ${maxEvents} data points in one request: ` +
        'split the batch, or raise ingest.otlpMaxRecords',
    );
  }

  #reject({ reason, example }: Fault, name: string): void {
    const where = name === '' ? '' : `metric ${JSON.stringify(name.slice(0, 200))}`;
    const text = [where, example].filter((part) => part !== '').join(', ');
    this.#rejections.add(this.#points - 1, reason, 1, text);
  }

  #readPoint(metric: Metric, owner: Owner, end: number): Fault | undefined {
    const wire = this.#wire;
    const point = this.#point;
    const bytesOfPoint = end - wire.at;
    if (bytesOfPoint > maxMessageBytes) {
      return { reason: 'data point too large', example: `${bytesOfPoint} bytes` };
    }
    point.clear();
    point.read(wire, metric.kind, end);
    if (point.timeMs === 0) {
      addCount(this.#rowWarnings, metricWarnings.noTime);
      point.timeMs = this.#context.nowMs;
    }
    this.#firstMs = Math.min(this.#firstMs, point.timeMs);
    this.#lastMs = Math.max(this.#lastMs, point.timeMs);
    this.#series.openPoint(wire.bytes, point.attributes, () => {
      this.#sliceEnd -= newSeriesCost;
      const attributes = this.#attributes.readRanges(point.attributes);
      return toPointLabels(attributes, owner, this.#options.rules) ?? badLabelName;
    });
    const exemplars = metric.kind === 'gauge' ? [] : this.#readExemplars(point);
    this.#sliceEnd -= rowCost * (point.counts.length + exemplars.length);
    return this.#rows.write(point, metric, exemplars);
  }

  #readExemplars({ exemplars: ranges, timeMs }: DataPoint): PointExemplar[] {
    const exemplars: PointExemplar[] = [];
    if (ranges.length === 0) return exemplars;
    const wire = this.#wire;
    const { labels: limits } = this.#options;
    const reading = { attributes: this.#attributes, limits, pointTime: toTime(timeMs) };
    for (let range = 0; range < ranges.length; range += 2) {
      wire.at = ranges[range]!;
      wire.tag(ranges[range + 1]!);
      wire.lengthEnd(ranges[range + 1]!);
      const exemplar = readExemplar(wire, ranges[range + 1]!, reading);
      if (typeof exemplar !== 'string') exemplars.push(exemplar);
      else addCount(this.#rowWarnings, `exemplar left out: ${exemplar}`);
    }
    return exemplars;
  }

  /** Once per request and family. */
  #describe({ type, unit, description }: Metric, name: string): void {
    if (this.#described.has(name)) return;
    this.#described.add(name);
    const { maxLabelValueLength } = this.#options.labels;
    if (Math.max(description.length, unit.length, name.length) > maxLabelValueLength) {
      addCount(this.#rowWarnings, metricWarnings.longMetadata);
      return;
    }
    this.#writer.metadata({ name, type, unit: toUnitName(unit), help: description });
  }

  /** `target_info` of a resource, as often as a query at any time of its points needs it. */
  #writeTarget(labels: readonly Label[], digest: Buffer): void {
    const [first, last] = [this.#firstMs, this.#lastMs];
    if (first > last) return;
    const series = this.#series;
    series.openMetric('target_info', [digest, targetDigest]);
    series.openPoint(this.#wire.bytes, [], () => [...labels]);
    const step = Math.max(targetIntervalMs, Math.ceil((last - first) / maxTargetSamples));
    let fault: Fault | undefined;
    for (let at = first; at < last; at += step) fault ??= this.#rows.writeOne(at);
    fault ??= this.#rows.writeOne(last);
    if (fault !== undefined) addCount(this.#rowWarnings, `target_info left out: ${fault.reason}`);
    else if (!this.#described.has('target_info')) {
      this.#described.add('target_info');
      const metadata = { name: 'target_info', type: 'gauge', unit: '', help: 'Target metadata' };
      this.#writer.metadata(metadata);
    }
  }
}

const newSeriesCost = 4096;
/** Of a bucket or exemplar. */
const rowCost = 64;
/** No scope has it. */
const targetDigest = Buffer.alloc(16);

function digestOf(parts: readonly Buffer[]): Buffer {
  return hash('sha256', Buffer.concat(parts), 'buffer').subarray(0, 16);
}

/** The fault of all points of a metric. */
function faultOfMetric(metric: Metric, name: string, owner: Owner | undefined): Fault | undefined {
  if (owner === undefined) return { reason: badLabelName, example: 'of its resource or scope' };
  if (name === '') return { reason: 'no metric name', example: '' };
  if (metric.hasTemporality) return undefined;
  return { reason: 'neither cumulative nor delta', example: '' };
}

function ownerTooLarge(): AppError {
  return new AppError(
    'too_large',
    `cannot accept a resource or scope of more than ${maxMessageBytes} bytes: ` +
      'send fewer or smaller attributes with it',
  );
}

function tooManyRows(): AppError {
  return new AppError(
    'too_large',
    `cannot accept more than ${maxRowsPerBatch} samples in one request, of which a histogram has ` +
      'one per bucket: split the batch',
  );
}
