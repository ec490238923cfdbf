-- The metrics of every account. Partitioned by the day of receipt like the logs, so that a wrong clock makes no
-- partitions and retention drops whole ones; sorted by series, then time. Where the same is stored twice, the row
-- received last stays, and of those the one inserted last: reads say FINAL, so what an insert left half done is
-- simply inserted again. Figures: docs/decisions/011-metrics-tables.md.

-- Which labels a series id stands for, on each day (UTC) that has a sample of it. They are written once a day of
-- receipt, hence kept a day longer than samples.
CREATE TABLE IF NOT EXISTS {{table series}}{{onCluster}}
(
    AccountId LowCardinality(String) CODEC(LZ4),
    StreamId LowCardinality(String) CODEC(LZ4),
    MetricName String CODEC(ZSTD(1)),
    SeriesId UInt128 CODEC(ZSTD(1)),
    Day Date CODEC(ZSTD(1)),
    Labels Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    ReceivedAt DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),

    INDEX days Day TYPE minmax GRANULARITY 1
)
ENGINE = {{replacingMergeTree series ReceivedAt}}
PARTITION BY toYYYYMMDD(ReceivedAt, 'UTC')
ORDER BY (AccountId, StreamId, MetricName, SeriesId, Day)
SETTINGS{{storagePolicy}} fsync_after_insert = 1, fsync_part_directory = 1, min_bytes_for_wide_part = 134217728;

-- A value that is a whole number stands in `Integer`, any other bit by bit in `Bits`; the column that has nothing
-- to say is 0 and costs nothing. What is left of either after Delta has few bits, which T64 puts side by side.
-- The time of receipt is kept in whole seconds: exact, it would cost as much as the value. Merges join more parts
-- at a time than by default: each costs as much as the insert.
-- The key has times as Int128: an insert does not keep equal Int64 of a later column of the key in their order, once
-- there are 256, and so would not know which was last.
CREATE TABLE IF NOT EXISTS {{table samples}}{{onCluster}}
(
    AccountId LowCardinality(String) CODEC(LZ4),
    StreamId LowCardinality(String) CODEC(LZ4),
    SeriesId UInt128 CODEC(ZSTD(1)),
    UnixMilli Int64 CODEC(Delta(8), ZSTD(1)),
    Integer Int64 CODEC(Delta(8), T64('bit'), ZSTD(1)),
    Bits UInt64 CODEC(Delta(8), T64('bit'), ZSTD(1)),
    ReceivedAt DateTime('UTC') CODEC(Delta(4), ZSTD(1)),
    Value Float64 ALIAS if(Bits = 0, toFloat64(Integer), reinterpretAsFloat64(Bits)),

    INDEX times UnixMilli TYPE minmax GRANULARITY 1
)
ENGINE = {{replacingMergeTree samples ReceivedAt}}
PARTITION BY toYYYYMMDD(ReceivedAt, 'UTC')
ORDER BY (AccountId, StreamId, SeriesId, toInt128(UnixMilli))
SETTINGS{{storagePolicy}}
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_bytes_for_wide_part = 134217728,
    merge_selector_base = 8;

-- Native histograms, each the message `prometheus.Histogram` as it was sent.
CREATE TABLE IF NOT EXISTS {{table histograms}}{{onCluster}}
(
    AccountId LowCardinality(String) CODEC(LZ4),
    StreamId LowCardinality(String) CODEC(LZ4),
    SeriesId UInt128 CODEC(ZSTD(1)),
    UnixMilli Int64 CODEC(Delta(8), ZSTD(1)),
    Histogram String CODEC(ZSTD(1)),
    ReceivedAt DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),

    INDEX times UnixMilli TYPE minmax GRANULARITY 1
)
ENGINE = {{replacingMergeTree histograms ReceivedAt}}
PARTITION BY toYYYYMMDD(ReceivedAt, 'UTC')
ORDER BY (AccountId, StreamId, SeriesId, toInt128(UnixMilli))
SETTINGS{{storagePolicy}} fsync_after_insert = 1, fsync_part_directory = 1, min_bytes_for_wide_part = 134217728;

-- A series may have several at one time; `Digest` tells them apart.
CREATE TABLE IF NOT EXISTS {{table exemplars}}{{onCluster}}
(
    AccountId LowCardinality(String) CODEC(LZ4),
    StreamId LowCardinality(String) CODEC(LZ4),
    SeriesId UInt128 CODEC(ZSTD(1)),
    UnixMilli Int64 CODEC(Delta(8), ZSTD(1)),
    Digest UInt64 CODEC(NONE),
    Value Float64 CODEC(ZSTD(1)),
    Labels Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    ReceivedAt DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),

    INDEX times UnixMilli TYPE minmax GRANULARITY 1
)
ENGINE = {{replacingMergeTree exemplars ReceivedAt}}
PARTITION BY toYYYYMMDD(ReceivedAt, 'UTC')
ORDER BY (AccountId, StreamId, SeriesId, UnixMilli, Digest)
SETTINGS{{storagePolicy}} fsync_after_insert = 1, fsync_part_directory = 1, min_bytes_for_wide_part = 134217728;

CREATE TABLE IF NOT EXISTS {{table metric_metadata}}{{onCluster}}
(
    AccountId LowCardinality(String) CODEC(LZ4),
    StreamId LowCardinality(String) CODEC(LZ4),
    MetricName String CODEC(ZSTD(1)),
    Type LowCardinality(String) CODEC(ZSTD(1)),
    Unit LowCardinality(String) CODEC(ZSTD(1)),
    Help String CODEC(ZSTD(1)),
    ReceivedAt DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1))
)
ENGINE = {{replacingMergeTree metric_metadata ReceivedAt}}
PARTITION BY toYYYYMMDD(ReceivedAt, 'UTC')
ORDER BY (AccountId, StreamId, MetricName)
SETTINGS{{storagePolicy}} fsync_after_insert = 1, fsync_part_directory = 1, min_bytes_for_wide_part = 134217728;
