-- Times as differences, a quarter smaller, which are scanned as fast (docs/decisions/048-times-as-differences.md). Existing
-- parts keep theirs until a merge.

ALTER TABLE {{table logs}}{{onCluster}} MODIFY COLUMN Timestamp DateTime64(9, 'UTC') CODEC(GCD, Delta(8), T64, LZ4);
