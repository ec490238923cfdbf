-- For reads in the order of arrival: which granules hold what was received lately. Logs are sorted by the time of their
-- own, and most arrive soon after it, so nearly all granules of a day are skipped. Parts written before have no such
-- index until they are merged, and are read as before.

ALTER TABLE {{table logs}}{{onCluster}} ADD INDEX IF NOT EXISTS arrivals ReceivedAt TYPE minmax GRANULARITY 1;
