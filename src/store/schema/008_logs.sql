-- Filters of whole words with fewer false positives, under a new name, since those of existing parts have another size
-- (docs/decisions/037-larger-filters-of-words.md). Housekeeping builds them for existing parts, whose old ones are removed
-- in the background.

ALTER TABLE {{table logs}}{{onCluster}}
    ADD INDEX IF NOT EXISTS message_words lower(Body) TYPE tokenbf_v1(7168, 3, 0) GRANULARITY 1,
    MODIFY SETTING exclude_materialize_skip_indexes_on_merge = '{{searchIndexNames}}';

-- An index cannot be dropped while it is being built.
KILL MUTATION{{onCluster}} WHERE concat(database, '.', table) = '{{table logs}}' AND command LIKE '%message_tokens%' SYNC;

ALTER TABLE {{table logs}}{{onCluster}} DROP INDEX IF EXISTS message_tokens SETTINGS alter_sync = 0;
