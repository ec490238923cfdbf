/**
 * The messages of remote_write v1 (https://github.com/prometheus/prometheus/tree/main/prompb) for a
 * protobuf library, independent of Weir's code.
 */
import protobuf from 'protobufjs';

const { root } = protobuf.parse(`
  syntax = "proto3";
  package prometheus;
  message WriteRequest {
    repeated TimeSeries timeseries = 1;
    repeated MetricMetadata metadata = 3;
  }
  message MetricMetadata {
    int32 type = 1;
    string metric_family_name = 2;
    string help = 4;
    string unit = 5;
  }
  message Sample { double value = 1; int64 timestamp = 2; }
  message Exemplar { repeated Label labels = 1; double value = 2; int64 timestamp = 3; }
  message Histogram {
    oneof count { uint64 count_int = 1; double count_float = 2; }
    double sum = 3;
    sint32 schema = 4;
    double zero_threshold = 5;
    oneof zero_count { uint64 zero_count_int = 6; double zero_count_float = 7; }
    repeated BucketSpan negative_spans = 8;
    repeated sint64 negative_deltas = 9;
    repeated double negative_counts = 10;
    repeated BucketSpan positive_spans = 11;
    repeated sint64 positive_deltas = 12;
    repeated double positive_counts = 13;
    int32 reset_hint = 14;
    int64 timestamp = 15;
    repeated double custom_values = 16;
  }
  message BucketSpan { sint32 offset = 1; uint32 length = 2; }
  message TimeSeries {
    repeated Label labels = 1;
    repeated Sample samples = 2;
    repeated Exemplar exemplars = 3;
    repeated Histogram histograms = 4;
  }
  message Label { string name = 1; string value = 2; }
`);

export type MessageName =
  | 'WriteRequest'
  | 'TimeSeries'
  | 'Label'
  | 'Sample'
  | 'Exemplar'
  | 'Histogram'
  | 'MetricMetadata';

/** @param message fields in camel case; large 64-bit numbers as text */
export function encodeMessage(name: MessageName, message: object): Buffer {
  const type = root.lookupType(`prometheus.${name}`);
  return Buffer.from(type.encode(type.fromObject(message)).finish());
}
