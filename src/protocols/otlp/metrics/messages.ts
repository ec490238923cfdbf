/**
 * The messages of an `ExportMetricsServiceRequest` with the keys of their JSON form
 * (https://github.com/open-telemetry/opentelemetry-proto, opentelemetry/proto/metrics/v1).
 */
import { createObjectKeys, type ObjectKeys } from '../json-reader.ts';

/** How a value is written in protobuf. */
export type ScalarType =
  | 'text'
  | 'bytes'
  | 'traceId'
  | 'spanId'
  | 'bool'
  | 'enum'
  | 'uint32'
  | 'sint32'
  | 'int64'
  | 'uint64'
  | 'fixed64'
  | 'sfixed64'
  | 'double';

export interface Field {
  readonly number: number;
  readonly type: ScalarType | Message | 'otherSignal';
  readonly isList: boolean;
}

export interface Message {
  readonly keys: ObjectKeys;
  /** In the order of the keys. */
  readonly fields: readonly Field[];
}

type Shape = Readonly<Record<string, Field>>;

const one = (number: number, type: Field['type']): Field => ({ number, type, isList: false });
const many = (number: number, type: Field['type']): Field => ({ number, type, isList: true });
const message = (shape: Shape): Message => ({
  keys: createObjectKeys(Object.keys(shape)),
  fields: Object.values(shape),
});

/** Contains itself, so that it is completed below. */
const anyValue: { keys: ObjectKeys; fields: readonly Field[] } = message({});
const keyValue = message({ key: one(1, 'text'), value: one(2, anyValue) });
Object.assign(
  anyValue,
  message({
    stringValue: one(1, 'text'),
    boolValue: one(2, 'bool'),
    intValue: one(3, 'int64'),
    doubleValue: one(4, 'double'),
    arrayValue: one(5, message({ values: many(1, anyValue) })),
    kvlistValue: one(6, message({ values: many(1, keyValue) })),
    bytesValue: one(7, 'bytes'),
  }),
);

const exemplar = message({
  timeUnixNano: one(2, 'fixed64'),
  asDouble: one(3, 'double'),
  spanId: one(4, 'spanId'),
  traceId: one(5, 'traceId'),
  asInt: one(6, 'sfixed64'),
  filteredAttributes: many(7, keyValue),
});
const times = { startTimeUnixNano: one(2, 'fixed64'), timeUnixNano: one(3, 'fixed64') };
const distribution = { ...times, count: one(4, 'fixed64'), sum: one(5, 'double') };

const numberPoint = message({
  ...times,
  asDouble: one(4, 'double'),
  exemplars: many(5, exemplar),
  asInt: one(6, 'sfixed64'),
  attributes: many(7, keyValue),
  flags: one(8, 'uint32'),
});
const histogramPoint = message({
  ...distribution,
  bucketCounts: many(6, 'fixed64'),
  explicitBounds: many(7, 'double'),
  exemplars: many(8, exemplar),
  attributes: many(9, keyValue),
  flags: one(10, 'uint32'),
  min: one(11, 'double'),
  max: one(12, 'double'),
});
const buckets = message({ offset: one(1, 'sint32'), bucketCounts: many(2, 'uint64') });
const exponentialPoint = message({
  attributes: many(1, keyValue),
  ...distribution,
  scale: one(6, 'sint32'),
  zeroCount: one(7, 'fixed64'),
  positive: one(8, buckets),
  negative: one(9, buckets),
  flags: one(10, 'uint32'),
  exemplars: many(11, exemplar),
  min: one(12, 'double'),
  max: one(13, 'double'),
  zeroThreshold: one(14, 'double'),
});
const summaryPoint = message({
  ...distribution,
  quantileValues: many(6, message({ quantile: one(1, 'double'), value: one(2, 'double') })),
  attributes: many(7, keyValue),
  flags: one(8, 'uint32'),
});

const temporality = { aggregationTemporality: one(2, 'enum') };
const metric = message({
  name: one(1, 'text'),
  description: one(2, 'text'),
  unit: one(3, 'text'),
  gauge: one(5, message({ dataPoints: many(1, numberPoint) })),
  sum: one(
    7,
    message({ dataPoints: many(1, numberPoint), ...temporality, isMonotonic: one(3, 'bool') }),
  ),
  histogram: one(9, message({ dataPoints: many(1, histogramPoint), ...temporality })),
  exponentialHistogram: one(10, message({ dataPoints: many(1, exponentialPoint), ...temporality })),
  summary: one(11, message({ dataPoints: many(1, summaryPoint) })),
});
const owner = { attributes: many(1, keyValue), droppedAttributesCount: one(2, 'uint32') };
const scope = message({
  name: one(1, 'text'),
  version: one(2, 'text'),
  attributes: many(3, keyValue),
  droppedAttributesCount: one(4, 'uint32'),
});
const scopeMetrics = message({
  scope: one(1, scope),
  metrics: many(2, metric),
  schemaUrl: one(3, 'text'),
});
const resourceMetrics = message({
  resource: one(1, message(owner)),
  scopeMetrics: many(2, scopeMetrics),
  schemaUrl: one(3, 'text'),
});

export const exportRequest = message({
  resourceMetrics: many(1, resourceMetrics),
  resourceLogs: many(0, 'otherSignal'),
  resourceSpans: many(0, 'otherSignal'),
  resourceProfiles: many(0, 'otherSignal'),
});
