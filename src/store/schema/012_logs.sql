-- Smaller blocks, of which a search decompresses one of each column for each log that it finds
-- (docs/decisions/046-small-blocks.md). Existing parts keep theirs until a merge.

ALTER TABLE {{table logs}}{{onCluster}} MODIFY SETTING min_compress_block_size = 16384;
