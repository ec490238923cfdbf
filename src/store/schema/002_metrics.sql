-- The metrics of every account. Partitioned by the day of receipt like the logs, so that a wrong clock makes no
-- partitions and retention drops whole ones; sorted by series, then time. Where the same is stored twice, the row
-- received last stays, and of those the one inserted last: reads use FINAL, so an interrupted insert is repeated in
-- full. Figures: docs/decisions/011-metrics-tables.md.

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

-- A whole number is stored in `Integer`, any other value as its bits in `Bits`; the other column is 0, which
-- compresses to nothing. After Delta few bits remain, which T64 packs.
-- The time of receipt is in whole seconds: in nanoseconds it would take as much space as the value. Merges take more
-- parts at a time than by default, since each merge costs as much as the insert.
-- The key has times as Int128: from 256 rows on, the sort of an insert is not stable for equal Int64 in a later column
-- of the key, and the last row would be unknown.
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

-- A series may have several at one time; `Digest` distinguishes them.
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
