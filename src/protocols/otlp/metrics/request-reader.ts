/**
 * Reads `opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest` from protobuf into
 * rows. Fields that apply to a whole message may follow its parts, so that messages are read twice.
 */
import { hash } from 'node:crypto';
import { ProtobufWire, toTag, wireType } from '../../../codec/protobuf-wire.ts';
import type { Slices } from '../../../codec/sliced-decoder.ts';
import type { Batch } from '../../../model/batch.ts';
import { AppError } from '../../../model/errors.ts';
import { maxRowsPerBatch } from '../../../model/log-id.ts';
import type { Label } from '../../../model/metric-plan.ts';
import { AttributeReader } from './attribute-reader.ts';
import { type ResourceLabels, toResourceLabels, toScopeLabels } from './metric-labels.ts';
import { metricWarnings, readMetric } from './metric-reader.ts';
import { maxMessageBytes, type MetricsParts, type Owner, PointReader } from './point-reader.ts';

const { bytes, varint } = wireType;
const requestTag = toTag(1, bytes);
/** Of data points in every kind of metric. */
const dataTag = toTag(1, bytes);
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
/** Of a resource, scope or metric. */
const messageCost = 1024;

export class MetricsRequest {
  readonly #parts: MetricsParts;
  readonly #wire: ProtobufWire;
  readonly #attributes: AttributeReader;
  readonly #points: PointReader;
  readonly #counts = { resources: 0, scopes: 0, metrics: 0 };
  #sliceEnd = 0;

  constructor(body: Buffer, parts: MetricsParts) {
    this.#parts = parts;
    this.#wire = new ProtobufWire(body);
    const { maxDepth } = parts.context.limits;
    this.#attributes = new AttributeReader(this.#wire, parts.warnings, maxDepth);
    this.#points = new PointReader(this.#wire, this.#attributes, parts);
  }

  /** Yields between slices. @throws AppError `malformed` | `too_large` */
  *read(): Slices<void> {
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
    const { writer, warnings } = this.#parts;
    this.#checkRows();
    return {
      ...writer.takeBatch(),
      ...this.#points.rejections.toBatch(),
      warnings: warnings.take(),
    };
  }

  #checkRows(): void {
    if (this.#parts.writer.rows > maxRowsPerBatch) throw tooManyRows();
  }

  *#readResourceMetrics(end: number): Slices<void> {
    const wire = this.#wire;
    yield* this.#count('resources');
    const start = wire.at;
    const attributes = this.#readOwner(resourceMetricsTags.resource, end, (tag, resourceEnd) => {
      if (tag === resourceTags.attributes) this.#attributes.add(resourceEnd);
      else wire.skip(tag, resourceEnd);
    });
    const resource = toResourceLabels(attributes.labels, this.#parts.options.rules);
    this.#points.startResource();
    wire.at = start;
    while (wire.at < end) {
      const tag = wire.tag(end);
      if (tag !== resourceMetricsTags.scopeMetrics) wire.skip(tag, end);
      else yield* this.#readScopeMetrics(wire.lengthEnd(end), resource, attributes.digest);
    }
    if (resource?.target !== undefined) {
      this.#points.writeTarget(resource.target, attributes.digest);
    }
    wire.at = end;
  }

  *#readScopeMetrics(
    end: number,
    resource: ResourceLabels | undefined,
    resourceDigest: Buffer,
  ): Slices<void> {
    const wire = this.#wire;
    yield* this.#count('scopes');
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
    const scope = toScopeLabels({ ...fields, attributes }, this.#parts.options.rules);
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

  *#readMetric(end: number, owner: Owner | undefined): Slices<void> {
    const wire = this.#wire;
    yield* this.#count('metrics');
    const metric = readMetric(wire, this.#attributes, end);
    if (metric === undefined) {
      this.#parts.warnings.add(metricWarnings.empty);
      wire.at = end;
      return;
    }
    this.#points.startMetric(metric, owner);
    wire.at = metric.dataStart;
    while (wire.at < metric.dataEnd) {
      const tag = wire.tag(metric.dataEnd);
      if (tag !== dataTag) {
        wire.skip(tag, metric.dataEnd);
        continue;
      }
      const pointEnd = wire.lengthEnd(metric.dataEnd);
      const cost = this.#points.read(pointEnd);
      wire.at = pointEnd;
      yield* this.#spend(cost);
    }
    wire.at = end;
  }

  /** Empty messages take two bytes each. */
  *#count(kind: 'resources' | 'scopes' | 'metrics'): Slices<void> {
    const { maxEvents } = this.#parts.context.limits;
    this.#counts[kind] += 1;
    if (this.#counts[kind] > maxEvents) throw tooMany(kind, maxEvents);
    yield* this.#spend(messageCost);
  }

  *#spend(cost: number): Slices<void> {
    const wire = this.#wire;
    this.#sliceEnd -= cost;
    if (wire.at < this.#sliceEnd) return;
    this.#checkRows();
    yield;
    this.#sliceEnd = wire.at + sliceCost;
  }
}

function digestOf(parts: readonly Buffer[]): Buffer {
  return hash('sha256', Buffer.concat(parts), 'buffer').subarray(0, 16);
}

function ownerTooLarge(): AppError {
  return new AppError(
    'too_large',
    `cannot accept a resource or scope of more than ${maxMessageBytes} bytes: ` +
      'send fewer or smaller attributes with it',
  );
}

function tooMany(kind: string, limit: number): AppError {
  return new AppError(
    'too_large',
    `cannot accept more than ${limit} ${kind} in one request: split the batch, or raise ` +
      'ingest.otlpMaxRecords',
  );
}

function tooManyRows(): AppError {
  return new AppError(
    'too_large',
    `cannot accept more than ${maxRowsPerBatch} samples in one request, of which a histogram has ` +
      'one per bucket: split the batch',
  );
}
