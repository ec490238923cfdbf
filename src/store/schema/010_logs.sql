-- Smaller columns at no more CPU time (docs/decisions/041-smaller-columns-of-logs.md): values of labels with their lengths
-- in one stream, as before ClickHouse 26.3; ties by T64, which decodes twice as fast as Delta; fields by ZSTD. Existing
-- parts keep theirs until a merge.

ALTER TABLE {{table logs}}{{onCluster}} MODIFY SETTING propagate_types_serialization_versions_to_nested_types = 0;

ALTER TABLE {{table logs}}{{onCluster}}
    MODIFY COLUMN SeverityText LowCardinality(String) CODEC(ZSTD(1)),
    MODIFY COLUMN ServiceName LowCardinality(String) CODEC(ZSTD(1)),
    MODIFY COLUMN Host LowCardinality(String) CODEC(ZSTD(1)),
    MODIFY COLUMN Tie UInt64 CODEC(T64, ZSTD(1));
