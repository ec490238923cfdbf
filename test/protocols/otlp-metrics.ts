/**
 * OTLP metrics requests as JSON, and as protobuf by protobufjs, independent of Weir's code
 * (https://github.com/open-telemetry/opentelemetry-proto, metrics/v1).
 */
import protobuf from 'protobufjs';
import { definition as common, type KeyValue } from './otlp-proto.ts';

const definition = `
${common}
message ExportMetricsServiceRequest { repeated ResourceMetrics resource_metrics = 1; }
message ResourceMetrics {
  Resource resource = 1;
  repeated ScopeMetrics scope_metrics = 2;
  string schema_url = 3;
}
message ScopeMetrics {
  InstrumentationScope scope = 1;
  repeated Metric metrics = 2;
  string schema_url = 3;
}
message Metric {
  string name = 1;
  string description = 2;
  string unit = 3;
  oneof data {
    Gauge gauge = 5;
    Sum sum = 7;
    Histogram histogram = 9;
    ExponentialHistogram exponential_histogram = 10;
    Summary summary = 11;
  }
}
message Gauge { repeated NumberDataPoint data_points = 1; }
message Sum {
  repeated NumberDataPoint data_points = 1;
  int32 aggregation_temporality = 2;
  bool is_monotonic = 3;
}
message Histogram {
  repeated HistogramDataPoint data_points = 1;
  int32 aggregation_temporality = 2;
}
message ExponentialHistogram {
  repeated ExponentialHistogramDataPoint data_points = 1;
  int32 aggregation_temporality = 2;
}
message Summary { repeated SummaryDataPoint data_points = 1; }
message NumberDataPoint {
  fixed64 start_time_unix_nano = 2;
  fixed64 time_unix_nano = 3;
  oneof value { double as_double = 4; sfixed64 as_int = 6; }
  repeated Exemplar exemplars = 5;
  repeated KeyValue attributes = 7;
  uint32 flags = 8;
}
message HistogramDataPoint {
  fixed64 start_time_unix_nano = 2;
  fixed64 time_unix_nano = 3;
  fixed64 count = 4;
  optional double sum = 5;
  repeated fixed64 bucket_counts = 6;
  repeated double explicit_bounds = 7;
  repeated Exemplar exemplars = 8;
  repeated KeyValue attributes = 9;
  uint32 flags = 10;
}
message ExponentialHistogramDataPoint {
  repeated KeyValue attributes = 1;
  fixed64 start_time_unix_nano = 2;
  fixed64 time_unix_nano = 3;
  fixed64 count = 4;
  optional double sum = 5;
  sint32 scale = 6;
  fixed64 zero_count = 7;
  Buckets positive = 8;
  Buckets negative = 9;
  uint32 flags = 10;
  repeated Exemplar exemplars = 11;
  double zero_threshold = 14;
}
message Buckets { sint32 offset = 1; repeated uint64 bucket_counts = 2; }
message SummaryDataPoint {
  fixed64 start_time_unix_nano = 2;
  fixed64 time_unix_nano = 3;
  fixed64 count = 4;
  double sum = 5;
  repeated ValueAtQuantile quantile_values = 6;
  repeated KeyValue attributes = 7;
  uint32 flags = 8;
}
message ValueAtQuantile { double quantile = 1; double value = 2; }
message Exemplar {
  fixed64 time_unix_nano = 2;
  oneof value { double as_double = 3; sfixed64 as_int = 6; }
  bytes span_id = 4;
  bytes trace_id = 5;
  repeated KeyValue filtered_attributes = 7;
}
`;

/** 64-bit numbers are decimal digits. */
export interface Exemplar {
  readonly timeUnixNano?: string;
  readonly asDouble?: number;
  readonly asInt?: string;
  /** Hex digits. */
  readonly traceId?: string;
  readonly spanId?: string;
  readonly filteredAttributes?: readonly KeyValue[];
}

interface Point {
  readonly startTimeUnixNano?: string;
  readonly timeUnixNano?: string;
  readonly attributes?: readonly KeyValue[];
  readonly flags?: number;
}

export interface NumberPoint extends Point {
  readonly asDouble?: number;
  readonly asInt?: string;
  readonly exemplars?: readonly Exemplar[];
}

export interface HistogramPoint extends Point {
  readonly count?: string;
  readonly sum?: number;
  readonly bucketCounts?: readonly string[];
  readonly explicitBounds?: readonly number[];
  readonly exemplars?: readonly Exemplar[];
}

interface Buckets {
  readonly offset?: number;
  readonly bucketCounts?: readonly string[];
}

export interface ExponentialPoint extends Point {
  readonly count?: string;
  readonly sum?: number;
  readonly scale?: number;
  readonly zeroCount?: string;
  readonly zeroThreshold?: number;
  readonly positive?: Buckets;
  readonly negative?: Buckets;
  readonly exemplars?: readonly Exemplar[];
}

export interface SummaryPoint extends Point {
  readonly count?: string;
  readonly sum?: number;
  readonly quantileValues?: readonly { readonly quantile: number; readonly value: number }[];
}

export const temporality = { unspecified: 0, delta: 1, cumulative: 2 } as const;

export interface Metric {
  readonly name?: string;
  readonly description?: string;
  readonly unit?: string;
  readonly gauge?: { readonly dataPoints: readonly NumberPoint[] };
  readonly sum?: {
    readonly dataPoints: readonly NumberPoint[];
    readonly aggregationTemporality: number;
    readonly isMonotonic?: boolean;
  };
  readonly histogram?: {
    readonly dataPoints: readonly HistogramPoint[];
    readonly aggregationTemporality: number;
  };
  readonly exponentialHistogram?: {
    readonly dataPoints: readonly ExponentialPoint[];
    readonly aggregationTemporality: number;
  };
  readonly summary?: { readonly dataPoints: readonly SummaryPoint[] };
}

export interface ScopeMetrics {
  readonly scope?: {
    readonly name?: string;
    readonly version?: string;
    readonly attributes?: readonly KeyValue[];
  };
  readonly metrics: readonly Metric[];
  readonly schemaUrl?: string;
}

export interface MetricsRequest {
  readonly resourceMetrics: readonly {
    readonly resource?: { readonly attributes: readonly KeyValue[] };
    readonly scopeMetrics: readonly ScopeMetrics[];
    readonly schemaUrl?: string;
  }[];
}

const requestType = protobuf.parse(definition).root.lookupType('ExportMetricsServiceRequest');

export function encodeMetricsRequest(request: MetricsRequest): Buffer {
  const withBytes = JSON.parse(JSON.stringify(request, encodeWords), decodeHex) as object;
  return Buffer.from(requestType.encode(requestType.fromObject(withBytes)).finish());
}

/** As an OTLP sender writes it. */
export function writeMetricsJson(request: MetricsRequest): Buffer {
  return Buffer.from(JSON.stringify(request, encodeWords));
}

/** JSON has no words for these. */
function encodeWords(_key: string, value: unknown): unknown {
  const isWord = typeof value === 'number' && !Number.isFinite(value);
  return isWord ? String(value) : value;
}

/** In protobuf ids are bytes; protobufjs takes base64 for them. */
function decodeHex(key: string, value: unknown): unknown {
  const isId = (key === 'traceId' || key === 'spanId') && typeof value === 'string';
  return isId ? Buffer.from(value, 'hex').toString('base64') : value;
}

/** A request with one metric of one resource. */
export function requestOf(
  metrics: readonly Metric[],
  attributes: Readonly<Record<string, string>> = {},
): MetricsRequest {
  const resource = { attributes: attributesOf(attributes) };
  return { resourceMetrics: [{ resource, scopeMetrics: [{ metrics }] }] };
}

export function attributesOf(texts: Readonly<Record<string, string>>): KeyValue[] {
  return Object.entries(texts).map(([key, stringValue]) => ({ key, value: { stringValue } }));
}
