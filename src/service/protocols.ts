/** The list of wire protocols. */
import type { Config } from '../config/schema.ts';
import type { Protocol } from '../model/protocol.ts';
import { createInflux } from '../protocols/influx/influx.ts';
import { createDatadog } from '../protocols/json-logs/datadog/datadog.ts';
import { createElasticsearch } from '../protocols/json-logs/elasticsearch/elasticsearch.ts';
import { createForward } from '../protocols/json-logs/forward/forward.ts';
import { createGelf } from '../protocols/json-logs/gelf/gelf.ts';
import { createJournal } from '../protocols/json-logs/journal/journal.ts';
import { createJsonLogs } from '../protocols/json-logs/json-logs.ts';
import { createLines } from '../protocols/json-logs/lines.ts';
import { createLoki } from '../protocols/json-logs/loki/loki.ts';
import { createSplunkHec } from '../protocols/json-logs/splunk/hec.ts';
import { createOtlpMetrics } from '../protocols/otlp/metrics/otlp-metrics.ts';
import { createOtlpGrpc, createOtlpHttp } from '../protocols/otlp/otlp-logs.ts';
import { createPromText } from '../protocols/prom-text/prom-text.ts';
import { createRemoteWrite } from '../protocols/remote-write/remote-write.ts';
import { createSyslog } from '../protocols/json-logs/syslog/syslog.ts';

export function createProtocols(config: Config): Protocol[] {
  return [
    createJsonLogs(config),
    createLines(config),
    createLoki(config),
    createDatadog(config),
    createGelf(config),
    ...createElasticsearch(config),
    ...createSplunkHec(config),
    createJournal(config),
    createOtlpHttp(config),
    createOtlpGrpc(config),
    ...createOtlpMetrics(config),
    createPromText(config),
    ...createRemoteWrite(config),
    createInflux(config),
    createSyslog(config),
    createForward(config),
  ];
}
