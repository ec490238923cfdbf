-- Smaller columns of samples at no more CPU time (docs/decisions/044-samples-are-merged-once.md): LZ4 keeps a byte of every
-- 255 of a constant, and level 3 of ZSTD finds the times that series of one target share. Existing parts keep
-- theirs until a merge.

ALTER TABLE {{table samples}}{{onCluster}}
    MODIFY COLUMN AccountId LowCardinality(String) CODEC(ZSTD(1)),
    MODIFY COLUMN StreamId LowCardinality(String) CODEC(ZSTD(1)),
    MODIFY COLUMN UnixMilli Int64 CODEC(Delta(8), T64, ZSTD(3)),
    MODIFY COLUMN ReceivedAt DateTime('UTC') CODEC(Delta(4), ZSTD(3));
