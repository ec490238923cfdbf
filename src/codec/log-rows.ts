/**
 * The row layout `logs/1`: one log event as ClickHouse RowBinary
 * (https://clickhouse.com/docs/interfaces/formats/RowBinary), fields in the order of
 * `logRowFields`. Account, stream, receiver, batch and time of receipt belong to the batch.
 */

export const logRowFields = [
  /** Event time, Unix ns; -1 = time of receipt. */
  ['timestamp', 'Int64'],
  /** Observed time, Unix ns; -1 = time of receipt. */
  ['observedTimestamp', 'Int64'],
  /** As sent, in upper case; may be empty. */
  ['severityText', 'String'],
  /** OpenTelemetry severity number, 0 = unknown. */
  ['severityNumber', 'UInt8'],
  ['serviceName', 'String'],
  ['serviceNamespace', 'String'],
  ['host', 'String'],
  ['body', 'String'],
  /** Lower-case hex, empty = none. */
  ['traceId', 'String'],
  ['spanId', 'String'],
  ['traceFlags', 'UInt8'],
  ['k8sCluster', 'String'],
  ['k8sNamespace', 'String'],
  ['k8sNode', 'String'],
  ['k8sPod', 'String'],
  ['k8sContainer', 'String'],
  ['k8sDeployment', 'String'],
  /** Labels of a JSON event or attributes of an OTLP log record. Keys are unique in each map. */
  ['logAttributes', 'Map(String, String)'],
  ['resourceAttributes', 'Map(String, String)'],
  ['resourceSchemaUrl', 'String'],
  ['scopeName', 'String'],
  ['scopeVersion', 'String'],
  ['scopeSchemaUrl', 'String'],
  ['scopeAttributes', 'Map(String, String)'],
  ['eventName', 'String'],
] as const;
