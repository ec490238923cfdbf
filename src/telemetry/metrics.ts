/**
 * Every metric that Weir exports about itself, by the part of a node that sets it.
 */
export interface Metric<
  Kind extends 'counter' | 'gauge' | 'histogram' = 'counter' | 'gauge' | 'histogram',
  Label extends string = string,
> {
  readonly kind: Kind;
  readonly help: string;
  readonly labels: readonly Label[];
  /** Upper bounds of a histogram, in seconds. */
  readonly buckets?: readonly number[];
}

export type MetricTable = Readonly<Record<string, Metric>>;

export const httpMetrics = {
  weir_http_request_duration_seconds: histogram(
    'Seconds from the headers of a request to its response',
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    'surface',
    'route',
    'status',
  ),
  weir_http_connections_cut_total: counter(
    'Connections that Weir closed outside of a request',
    'surface',
    'reason',
  ),
  weir_http_authentication_failures_total: counter(
    'Requests without a valid token, by answer: at once, delayed or cut',
    'surface',
    'answer',
  ),
  weir_tls_certificate_expires_timestamp_seconds: gauge(
    'Expiry of the certificate in use, as Unix time in seconds',
  ),
};

export const ingestMetrics = {
  weir_ingest_requests_total: counter(
    'Ingest requests by outcome: accepted, replayed, or the error code of the refusal',
    'protocol',
    'outcome',
  ),
  weir_ingest_events_accepted_total: counter('Events acknowledged as durable', 'protocol'),
  weir_ingest_events_rejected_total: counter(
    'Rejected events of accepted requests',
    'protocol',
    'reason',
  ),
  weir_ingest_warnings_total: counter(
    'Events accepted with a change, such as a truncated field',
    'protocol',
    'warning',
  ),
  weir_ingest_body_bytes_total: counter('Decompressed body bytes of accepted requests', 'protocol'),
  weir_ingest_in_flight_bytes: gauge('Estimated heap bytes of ingest requests in flight'),
  weir_ingest_known_series: gauge('Series of today whose labels are known to be durable'),
};

export const socketMetrics = {
  weir_socket_connections: gauge(
    'Open connections of syslog and other protocols without HTTP',
    'listener',
  ),
  weir_socket_connections_cut_total: counter('Connections that Weir closed', 'listener', 'reason'),
  weir_socket_messages_dropped_total: counter(
    'Messages that were not stored: kernel (the buffer of a UDP port was full), backlog (UDP ' +
      'faster than the queue), incomplete (parts are missing), or the error code of their refusal',
    'listener',
    'reason',
  ),
};

export const quotaMetrics = {
  weir_quota_store_seconds: histogram(
    'Seconds of one charge or refund at the shared quota store',
    [0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1],
  ),
  weir_quota_store_failures_total: counter(
    'Charges and refunds that failed at the shared quota store',
    'work',
    'kind',
  ),
  weir_quota_store_connected: gauge('1 while connected to the shared quota store'),
};

export const tailMetrics = {
  weir_tails_open: gauge('Live tails in progress'),
  weir_tail_logs_sent_total: counter('Logs sent to live tails'),
  weir_tail_logs_dropped_total: counter('Logs skipped in live tails whose reader was too slow'),
  weir_tail_failures_total: counter('Live tails that ended with an error, by error code', 'code'),
};

export const exportMetrics = {
  weir_exports_running: gauge('Exports of logs in progress'),
  weir_exported_logs_total: counter('Logs read for exports', 'format'),
  weir_exports_total: counter(
    'Exports of logs by outcome: finished, left (the reader disconnected) or failed',
    'outcome',
  ),
};

export const queueMetrics = {
  weir_queue_appended_batches_total: counter('Batches made durable'),
  weir_queue_appended_bytes_total: counter('Frame bytes made durable'),
  weir_queue_refused_batches_total: counter('Batches that the queue refused', 'reason'),
  weir_queue_damage_total: counter('Unreadable ranges found in the log', 'kind'),
  weir_queue_lost_batches_total: counter('Acknowledged batches found to be lost'),
  weir_queue_failures_total: counter('Permanent failures of a write or sync'),
};

export const queueLevelMetrics = {
  weir_queue_bytes: gauge('Bytes of batches not yet released'),
  weir_queue_batches: gauge('Batches not yet released'),
  weir_queue_rows: gauge('Rows of batches not yet released'),
  weir_queue_writable: gauge('1 while the queue accepts appends'),
  weir_queue_oldest_age_seconds: gauge('Age in seconds of the oldest batch not yet released'),
  weir_queue_quarantined_batches: gauge('Batches in quarantine'),
};

export const natsMetrics = {
  weir_queue_connected: gauge('1 while connected to NATS'),
  weir_queue_publish_seconds: histogram(
    'Seconds until JetStream acknowledged a message, retries included',
    [0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  ),
  weir_queue_publish_failures_total: counter(
    'Attempts to publish that JetStream did not acknowledge',
    'kind',
  ),
};

export const shardMetrics = {
  weir_queue_shards_held: gauge('Shards of the queue that this writer drains'),
  weir_queue_shards_taken_total: counter('Shards that this writer acquired'),
  weir_queue_shards_lost_total: counter('Shards that this writer released or lost', 'reason'),
  weir_queue_repeated_messages_total: counter('Redelivered messages that were skipped'),
  weir_queue_damaged_messages_total: counter('Unreadable message parts in quarantine'),
  weir_queue_dropped_uploads_total: counter('Incomplete, unacknowledged batches that were dropped'),
  weir_queue_consumers_lost_total: counter('Consumers that had to be replaced', 'reason'),
};

export const drainMetrics = {
  weir_drain_batches_total: counter('Batches stored'),
  weir_drain_rows_total: counter('Rows stored'),
  weir_drain_bytes_total: counter('Payload bytes stored'),
  weir_drain_insert_failures_total: counter('Failed inserts', 'failure'),
  weir_drain_fences_total: counter('Times that earlier inserts were fenced'),
  weir_drain_queue_failures_total: counter('Failed calls of the queue'),
  weir_drain_quarantined_batches_total: counter(
    'Batches quarantined because the store refuses their content',
  ),
  weir_drain_insert_seconds: histogram(
    'Seconds of one successful insert, in an embedded engine with the wait for the one before',
    [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  ),
  weir_drain_lag_seconds: gauge('Seconds from receipt to storage of the batch stored last'),
};

const readBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 3, 10];

export const storeMetrics = {
  weir_store_insert_seconds: histogram(
    'Seconds of one insert',
    [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30],
  ),
  weir_store_inserted_rows_total: counter('Rows of successful inserts'),
  weir_store_insert_failures_total: counter(
    'Failed inserts, by what is known about their rows',
    'failure',
  ),
  weir_store_read_seconds: histogram('Seconds of one read, all statements', readBuckets, 'kind'),
  weir_store_read_wait_seconds: histogram(
    'Seconds that one statement of a read waited for its turn',
    readBuckets,
  ),
  weir_store_read_failures_total: counter('Failed reads', 'kind'),
  weir_store_dropped_days_total: counter('Days of receipt dropped to free disk', 'reason'),
  weir_store_expired_rows_total: counter('Rows deleted at the end of their retention'),
  weir_store_downsampled_rows_total: counter('Samples deleted by downsampling'),
  weir_store_unindexed_rows: gauge('Rows without a search index at the last housekeeping'),
  weir_store_housekeeping_failures_total: counter('Failed housekeeping tasks', 'task'),
  weir_store_reachable: gauge('0 while the store does not answer and receives no statements'),
  weir_store_damaged_parts: gauge(
    'Data parts that are broken (detached) or with a wrong checksum (corrupt)',
    'state',
  ),
  weir_store_corruption_errors_total: counter('Reads and merges that failed on damaged files'),
  weir_store_unscrubbed_parts: gauge('Data parts with a checksum verification due'),
};

export const engineMetrics = {
  weir_engine_up: gauge('1 while the engine process serves queries'),
  weir_engine_restarts_total: counter('Restarts of the engine process', 'cause'),
  weir_engine_failed_starts_total: counter('Starts of the engine process that failed'),
  weir_engine_resident_bytes: gauge('Resident memory of the engine process, in bytes'),
};

export const engineFrontMetrics = {
  weir_engine_requests_total: counter(
    'Requests of other processes to the engine: passed, denied, away, left or broken',
    'outcome',
  ),
};

export const directoryMetrics = {
  weir_directory_failures_total: counter('Failed reads and writes of the directory', 'work'),
  weir_admin_changes_total: counter('Changes made through the control API', 'operation'),
};

export const sharedDirectoryMetrics = {
  weir_directory_connected: gauge('1 while PostgreSQL notifies this node of directory changes'),
};

export const statisticsMetrics = {
  weir_receiver_statistics_failures_total: counter('Failed writes of receiver statistics'),
  weir_receiver_statistics_dropped_total: counter(
    'Minutes of counts, and samples, dropped before they could be written',
    'what',
  ),
};

export const alertMetrics = {
  weir_rules_evaluations_total: counter('Evaluations of rules', 'outcome'),
  weir_rules_missed_total: counter('Evaluations of rule groups that were left out'),
  weir_rules_late_rows_total: counter(
    'Logs and samples that arrived after the evaluation of rules over their time',
  ),
  weir_rules_group_duration_seconds: histogram(
    'Seconds of one evaluation of a rule group',
    [0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60],
  ),
  weir_rules_write_failures_total: counter('Failed writes of the samples of a rule group'),
  weir_rules_notifications_total: counter(
    'Requests to notifiers of alerts, by outcome',
    'kind',
    'outcome',
  ),
  weir_rules_lease_held: gauge('1 where this process evaluates the rules'),
};

export const workerMetrics = {
  weir_workers_running: gauge('Worker processes that accept connections'),
  weir_workers_connections: gauge('Open connections of all workers'),
  weir_worker_ends_total: counter('Worker processes that ended unexpectedly and were replaced'),
  weir_worker_failed_starts_total: counter('Starts of worker processes that failed'),
  weir_worker_connections_refused_total: counter(
    'Connections closed at once: cap (too many) or no_worker (none is running)',
    'reason',
  ),
};

/** The tables by the title that each has in docs/metrics.md. */
export const metricTables: readonly (readonly [title: string, table: MetricTable])[] = [
  ['Requests', httpMetrics],
  ['Ingest', ingestMetrics],
  ['Listeners of protocols without HTTP', socketMetrics],
  ['Quotas shared by gateways', quotaMetrics],
  ['Live tail', tailMetrics],
  ['Exports', exportMetrics],
  ['Queue', { ...queueMetrics, ...queueLevelMetrics }],
  ['Queue at NATS', natsMetrics],
  ['Shards of a writer', shardMetrics],
  ['Drain', drainMetrics],
  ['Store', storeMetrics],
  ['Engine', { ...engineMetrics, ...engineFrontMetrics }],
  ['Directory', { ...directoryMetrics, ...sharedDirectoryMetrics }],
  ['Receiver statistics', statisticsMetrics],
  ['Rules', alertMetrics],
  ['Worker processes', workerMetrics],
];

function counter<Label extends string = never>(
  help: string,
  ...labels: Label[]
): Metric<'counter', Label> {
  return { kind: 'counter', help, labels };
}

function gauge<Label extends string = never>(
  help: string,
  ...labels: Label[]
): Metric<'gauge', Label> {
  return { kind: 'gauge', help, labels };
}

function histogram<Label extends string = never>(
  help: string,
  buckets: readonly number[],
  ...labels: Label[]
): Metric<'histogram', Label> {
  return { kind: 'histogram', help, labels, buckets };
}
