-- For reads in the order of arrival. Logs are sorted by event time and most arrive soon after it, so the index skips
-- nearly all granules of a day. Existing parts have no such index until they are merged, and are read in full.

ALTER TABLE {{table logs}}{{onCluster}} ADD INDEX IF NOT EXISTS arrivals ReceivedAt TYPE minmax GRANULARITY 1;
