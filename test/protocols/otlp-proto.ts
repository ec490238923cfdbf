/**
 * Encodes OTLP logs requests with protobufjs, independent of Weir's code
 * (https://github.com/open-telemetry/opentelemetry-proto, logs/v1 and common/v1).
 */
import protobuf from 'protobufjs';

export const definition = `
syntax = "proto3";
message ExportLogsServiceRequest { repeated ResourceLogs resource_logs = 1; }
message ResourceLogs {
  Resource resource = 1;
  repeated ScopeLogs scope_logs = 2;
  string schema_url = 3;
}
message Resource { repeated KeyValue attributes = 1; uint32 dropped_attributes_count = 2; }
message ScopeLogs {
  InstrumentationScope scope = 1;
  repeated LogRecord log_records = 2;
  string schema_url = 3;
}
message InstrumentationScope {
  string name = 1;
  string version = 2;
  repeated KeyValue attributes = 3;
  uint32 dropped_attributes_count = 4;
}
message LogRecord {
  fixed64 time_unix_nano = 1;
  int32 severity_number = 2;
  string severity_text = 3;
  AnyValue body = 5;
  repeated KeyValue attributes = 6;
  uint32 dropped_attributes_count = 7;
  fixed32 flags = 8;
  bytes trace_id = 9;
  bytes span_id = 10;
  fixed64 observed_time_unix_nano = 11;
  string event_name = 12;
}
message KeyValue { string key = 1; AnyValue value = 2; int32 key_strindex = 3; }
message AnyValue {
  oneof value {
    string string_value = 1;
    bool bool_value = 2;
    int64 int_value = 3;
    double double_value = 4;
    ArrayValue array_value = 5;
    KeyValueList kvlist_value = 6;
    bytes bytes_value = 7;
    int32 string_value_strindex = 8;
  }
}
message ArrayValue { repeated AnyValue values = 1; }
message KeyValueList { repeated KeyValue values = 1; }
`;

export interface AnyValue {
  readonly stringValue?: string;
  readonly boolValue?: boolean;
  /** Decimal digits. */
  readonly intValue?: string;
  readonly doubleValue?: number;
  readonly arrayValue?: { readonly values: readonly AnyValue[] };
  readonly kvlistValue?: { readonly values: readonly KeyValue[] };
  readonly bytesValue?: Uint8Array;
  readonly stringValueStrindex?: number;
}

export interface KeyValue {
  readonly key?: string;
  readonly value?: AnyValue;
  readonly keyStrindex?: number;
}

export interface LogRecord {
  /** Decimal digits. */
  readonly timeUnixNano?: string;
  readonly observedTimeUnixNano?: string;
  readonly severityNumber?: number;
  readonly severityText?: string;
  readonly body?: AnyValue;
  readonly attributes?: readonly KeyValue[];
  readonly droppedAttributesCount?: number;
  readonly flags?: number;
  readonly traceId?: Uint8Array;
  readonly spanId?: Uint8Array;
  readonly eventName?: string;
}

export interface ScopeLogs {
  readonly scope?: {
    readonly name?: string;
    readonly version?: string;
    readonly attributes?: readonly KeyValue[];
    readonly droppedAttributesCount?: number;
  };
  readonly logRecords?: readonly LogRecord[];
  readonly schemaUrl?: string;
}

export interface ResourceLogs {
  readonly resource?: {
    readonly attributes?: readonly KeyValue[];
    readonly droppedAttributesCount?: number;
  };
  readonly scopeLogs?: readonly ScopeLogs[];
  readonly schemaUrl?: string;
}

/** `ExportLogsServiceRequest` */
export interface LogsRequest {
  readonly resourceLogs?: readonly ResourceLogs[];
}

const { root } = protobuf.parse(definition);
const requestType = root.lookupType('ExportLogsServiceRequest');

/** 64-bit numbers are decimal digits, encoded exactly. */
export function encodeLogsRequest(request: LogsRequest): Buffer {
  return encodeMessage('ExportLogsServiceRequest', request);
}

/** @param name of an OTLP logs message. */
export function encodeMessage(name: string, message: object): Buffer {
  const type = name === requestType.name ? requestType : root.lookupType(name);
  return Buffer.from(type.encode(type.fromObject(message)).finish());
}
