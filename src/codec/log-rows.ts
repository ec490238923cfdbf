/**
 * The row layout `logs/1`: one log event as ClickHouse RowBinary
 * (https://clickhouse.com/docs/interfaces/formats/RowBinary), fields in the order of
 * `logRowFields`. Account, stream, receiver, batch and time of receipt are the same for all rows of
 * a batch and stand outside.
 */

export const logRowFields = [
  /** Event time, Unix ns; -1 = none of its own, takes the time of receipt. */
  ['timestamp', 'Int64'],
  /** When the sender's agent saw it, Unix ns; -1 = time of receipt. */
  ['observedTimestamp', 'Int64'],
  /** The sender's word in upper case; may be empty. */
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
  /**
   * The labels of a JSON event; the attributes of an OTLP log record. Keys are unique within a map.
   */
  ['logAttributes', 'Map(String, String)'],
  ['resourceAttributes', 'Map(String, String)'],
  ['resourceSchemaUrl', 'String'],
  ['scopeName', 'String'],
  ['scopeVersion', 'String'],
  ['scopeSchemaUrl', 'String'],
  ['scopeAttributes', 'Map(String, String)'],
  ['eventName', 'String'],
] as const;
