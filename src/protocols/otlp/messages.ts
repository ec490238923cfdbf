/**
 * The messages of export requests with the keys of their JSON form
 * (https://github.com/open-telemetry/opentelemetry-proto, opentelemetry/proto/{logs,metrics}/v1).
 */
import { createObjectKeys, type ObjectKeys } from './json-reader.ts';
import type { LengthBytes } from './message-builder.ts';

/** How a value is read from JSON and written in protobuf. */
export type FieldType =
  | 'text'
  | 'bytes'
  | 'traceId'
  | 'spanId'
  | 'bool'
  | 'severityNumber'
  | 'temporality'
  | 'uint32'
  | 'sint32'
  | 'int64'
  | 'uint64'
  | 'fixed32'
  | 'fixed64'
  | 'sfixed64'
  | 'double'
  // A fixed64 of a log record; what is none is kept as an attribute.
  | 'time'
  | 'observedTime'
  // Lists of another signal.
  | 'notLogs'
  | 'notMetrics';

export interface Field {
  readonly number: number;
  readonly type: FieldType | Message;
  readonly isList: boolean;
  /** Whether it replaces what its message contains so far: the last value counts. */
  readonly isExclusive: boolean;
}

export interface Message {
  readonly keys: ObjectKeys;
  /** In the order of the keys. */
  readonly fields: readonly Field[];
  /** Whether it contains log records or data points. */
  readonly isAroundRecords: boolean;
  /** Whether it has attributes, whose number and elements are limited per message. */
  readonly hasAttributes: boolean;
  /** Written for its length: 1 if it is mostly short and not nested, else 5. */
  readonly lengthBytes: LengthBytes;
}

type Shape = Readonly<Record<string, Field>>;

const one = (number: number, type: Field['type']): Field => ({
  number,
  type,
  isList: false,
  isExclusive: false,
});
const many: typeof one = (...parts) => ({ ...one(...parts), isList: true });
const oneOf: typeof one = (...parts) => ({ ...one(...parts), isExclusive: true });
/** @param former keys of older versions; treated as misspelt */
const message = (shape: Shape, former: readonly string[] = []): Message => ({
  keys: createObjectKeys(Object.keys(shape), former),
  fields: Object.values(shape),
  isAroundRecords: false,
  hasAttributes: false,
  lengthBytes: 5,
});
const around: typeof message = (...parts) => ({ ...message(...parts), isAroundRecords: true });
const owner: typeof message = (...parts) => ({ ...message(...parts), hasAttributes: true });
const small = (shape: Shape): Message => ({ ...message(shape), lengthBytes: 1 });

const valueShape = (value: Message, entry: Message): Shape => ({
  stringValue: oneOf(1, 'text'),
  boolValue: oneOf(2, 'bool'),
  intValue: oneOf(3, 'int64'),
  doubleValue: oneOf(4, 'double'),
  arrayValue: oneOf(5, message({ values: many(1, value) })),
  kvlistValue: oneOf(6, message({ values: many(1, entry) })),
  bytesValue: oneOf(7, 'bytes'),
  stringValueStrindex: one(8, 'uint32'),
});
/** The indices refer to a string table, which only profiles have. */
const entryShape = (value: Message): Shape => ({
  key: one(1, 'text'),
  value: oneOf(2, value),
  keyStrindex: one(3, 'uint32'),
});
/** An `AnyValue` in an array or map. Contains itself, so that it is completed below. */
export const nestedValue = message({});
Object.assign(nestedValue, message(valueShape(nestedValue, message(entryShape(nestedValue)))));
export const nestedEntry = message(entryShape(nestedValue));
const anyValue = small(valueShape(nestedValue, nestedEntry));
export const keyValue = small(entryShape(anyValue));

const resource = owner({
  attributes: many(1, keyValue),
  droppedAttributesCount: one(2, 'uint32'),
});
const scope = owner({
  name: one(1, 'text'),
  version: one(2, 'text'),
  attributes: many(3, keyValue),
  droppedAttributesCount: one(4, 'uint32'),
});

/** Of the attributes of a log record. */
export const recordAttributes = 6;
const logRecord = owner({
  timeUnixNano: one(1, 'time'),
  severityNumber: one(2, 'severityNumber'),
  severityText: one(3, 'text'),
  body: one(5, anyValue),
  attributes: many(recordAttributes, keyValue),
  droppedAttributesCount: one(7, 'uint32'),
  flags: one(8, 'fixed32'),
  traceId: one(9, 'traceId'),
  spanId: one(10, 'spanId'),
  observedTimeUnixNano: one(11, 'observedTime'),
  eventName: one(12, 'text'),
});
const scopeLogs = around(
  { scope: one(1, scope), logRecords: many(2, logRecord), schemaUrl: one(3, 'text') },
  ['instrumentationLibrary', 'logs'],
);
const resourceLogs = around(
  { resource: one(1, resource), scopeLogs: many(2, scopeLogs), schemaUrl: one(3, 'text') },
  ['instrumentationLibraryLogs'],
);

export const logsRequest = around({
  resourceLogs: many(1, resourceLogs),
  resourceSpans: one(0, 'notLogs'),
  resourceMetrics: one(0, 'notLogs'),
  resourceProfiles: one(0, 'notLogs'),
});

const exemplar = owner({
  timeUnixNano: one(2, 'fixed64'),
  asDouble: one(3, 'double'),
  spanId: one(4, 'spanId'),
  traceId: one(5, 'traceId'),
  asInt: one(6, 'sfixed64'),
  filteredAttributes: many(7, keyValue),
});
const times = { startTimeUnixNano: one(2, 'fixed64'), timeUnixNano: one(3, 'fixed64') };
const distribution = { ...times, count: one(4, 'fixed64'), sum: one(5, 'double') };

const numberPoint = owner({
  ...times,
  asDouble: one(4, 'double'),
  exemplars: many(5, exemplar),
  asInt: one(6, 'sfixed64'),
  attributes: many(7, keyValue),
  flags: one(8, 'uint32'),
});
const histogramPoint = owner({
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
const exponentialPoint = owner({
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
const summaryPoint = owner({
  ...distribution,
  quantileValues: many(6, message({ quantile: one(1, 'double'), value: one(2, 'double') })),
  attributes: many(7, keyValue),
  flags: one(8, 'uint32'),
});

const temporality = { aggregationTemporality: one(2, 'temporality') };
const metric = around({
  name: one(1, 'text'),
  description: one(2, 'text'),
  unit: one(3, 'text'),
  gauge: one(5, around({ dataPoints: many(1, numberPoint) })),
  sum: one(
    7,
    around({ dataPoints: many(1, numberPoint), ...temporality, isMonotonic: one(3, 'bool') }),
  ),
  histogram: one(9, around({ dataPoints: many(1, histogramPoint), ...temporality })),
  exponentialHistogram: one(10, around({ dataPoints: many(1, exponentialPoint), ...temporality })),
  summary: one(11, around({ dataPoints: many(1, summaryPoint) })),
});
const scopeMetrics = around({
  scope: one(1, scope),
  metrics: many(2, metric),
  schemaUrl: one(3, 'text'),
});
const resourceMetrics = around({
  resource: one(1, resource),
  scopeMetrics: many(2, scopeMetrics),
  schemaUrl: one(3, 'text'),
});

export const metricsRequest = around({
  resourceMetrics: many(1, resourceMetrics),
  resourceLogs: one(0, 'notMetrics'),
  resourceSpans: one(0, 'notMetrics'),
  resourceProfiles: one(0, 'notMetrics'),
});
