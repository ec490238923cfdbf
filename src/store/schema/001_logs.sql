-- The logs of every account: a superset of the OpenTelemetry ClickHouse exporter's `otel_logs` (same names), so that
-- tools made for that table read this one. Partitioned by the day of receipt, so that a sender's wrong clock cannot
-- make a thousand partitions and retention drops whole ones; sorted as logs are listed.
-- Account and stream ids are low-cardinality text: every read filters by both, and they cost a byte a row, not 32.
-- What reads scan is packed for speed, the rest for size (docs/decisions/010-logs-table.md).
-- Granules are small and hold about as many bytes for long logs as for short ones (030-small-granules.md). Search indexes
-- are built by housekeeping when the store is quiet: at insert they would cost as much as the insert.

CREATE TABLE IF NOT EXISTS {{table logs}}{{onCluster}}
(
    Timestamp DateTime64(9, 'UTC') CODEC(GCD, T64, LZ4),
    TraceId String CODEC(ZSTD(1)),
    SpanId String CODEC(ZSTD(1)),
    TraceFlags UInt8 CODEC(ZSTD(1)),
    SeverityText LowCardinality(String) CODEC(LZ4),
    SeverityNumber UInt8 CODEC(ZSTD(1)),
    ServiceName LowCardinality(String) CODEC(LZ4),
    Body String CODEC(ZSTD(1)),
    ResourceSchemaUrl LowCardinality(String) CODEC(ZSTD(1)),
    ResourceAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    ScopeSchemaUrl LowCardinality(String) CODEC(ZSTD(1)),
    ScopeName LowCardinality(String) CODEC(ZSTD(1)),
    ScopeVersion LowCardinality(String) CODEC(ZSTD(1)),
    ScopeAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    LogAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    EventName LowCardinality(String) CODEC(ZSTD(1)),

    AccountId LowCardinality(String) CODEC(LZ4),
    StreamId LowCardinality(String) CODEC(LZ4),
    ReceiverId LowCardinality(String) CODEC(ZSTD(1)),
    Host LowCardinality(String) CODEC(LZ4),
    ServiceNamespace LowCardinality(String) CODEC(ZSTD(1)),
    K8sCluster LowCardinality(String) CODEC(ZSTD(1)),
    K8sNamespace LowCardinality(String) CODEC(ZSTD(1)),
    K8sNode LowCardinality(String) CODEC(ZSTD(1)),
    K8sPod LowCardinality(String) CODEC(ZSTD(1)),
    K8sContainer LowCardinality(String) CODEC(ZSTD(1)),
    K8sDeployment LowCardinality(String) CODEC(ZSTD(1)),
    ObservedTimestamp DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    ReceivedAt DateTime64(9, 'UTC') CODEC(Delta(8), LZ4),
    Batch UInt128 CODEC(ZSTD(1)),
    Row UInt32 CODEC(Delta(4), ZSTD(1)),
    Tie UInt64 CODEC(Delta(8), ZSTD(1)),

    INDEX batches Batch TYPE minmax GRANULARITY 1,
    {{searchIndexes}}
)
ENGINE = {{mergeTree logs}}
PARTITION BY toYYYYMMDD(ReceivedAt, 'UTC')
ORDER BY (AccountId, StreamId, Timestamp, Tie)
SETTINGS{{storagePolicy}}
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    {{granules}},
    min_bytes_for_wide_part = 134217728,
    exclude_materialize_skip_indexes_on_merge = '{{searchIndexNames}}';
