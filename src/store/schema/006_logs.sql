-- Rare services, hosts and pods, the logs of a trace, and phrases, without a look at every granule
-- (docs/decisions/030-small-granules.md).

ALTER TABLE {{table logs}}{{onCluster}}
    ADD INDEX IF NOT EXISTS origins (ServiceName, Host, K8sPod) TYPE bloom_filter(0.01) GRANULARITY 16,
    ADD INDEX IF NOT EXISTS traces TraceId TYPE bloom_filter(0.01) GRANULARITY 1,
    ADD INDEX IF NOT EXISTS message_tokens lower(Body) TYPE tokenbf_v1(4096, 2, 0) GRANULARITY 1,
    MODIFY SETTING exclude_materialize_skip_indexes_on_merge = '{{searchIndexNames}}';
