-- The second filter on time that tools for the exporter's `otel_logs` put beside `Timestamp`: HyperDX, and Grafana's
-- data source for ClickHouse. Computed from `Timestamp`, so it takes no space and uses the same index.

ALTER TABLE {{table logs}}{{onCluster}}
    ADD COLUMN IF NOT EXISTS TimestampTime DateTime('UTC') ALIAS toDateTime(Timestamp);
