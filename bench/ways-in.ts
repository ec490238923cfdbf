/**
 * Every protocol, one after another: the same logs in each form as fast as answers come, then
 * samples.
 */
import { readFileSync } from 'node:fs';
import type { Service } from '../test/harness/service.ts';
import { type SocketService, startSocketService } from '../test/sockets/socket-service.ts';
import { type IngestFigures, measureBurst, measureLimit, measureUnanswered } from './ingest.ts';
import { type Load, startLoad } from './load.ts';
import type { LoadForm, LoadShape } from './load-bodies.ts';
import { drained, indexed } from './service-gauge.ts';

export interface WayIn {
  readonly name: string;
  readonly events: 'logs' | 'samples';
  readonly figures: IngestFigures;
}

export interface WaysInOptions {
  readonly seed: number;
  /** Different bodies of logs. */
  readonly bodies: number;
  /** Duration of each burst; samples take five times as long. */
  readonly seconds: number;
}

const logForms = [
  ['plain JSON', 'json_logs'],
  ['OTLP protobuf', 'otlp_protobuf'],
  ['OTLP JSON', 'otlp_json'],
  ['OTLP gRPC', 'otlp_grpc'],
  ['lines of JSON', 'lines'],
  ['Loki, protobuf', 'loki_protobuf'],
  ['Loki, JSON', 'loki_json'],
  ['Elasticsearch `_bulk`', 'elasticsearch'],
  ['Splunk HEC', 'splunk_hec'],
  ['Datadog', 'datadog'],
  ['GELF', 'gelf'],
  ['Fluent Forward', 'forward'],
  ['journald', 'journald'],
  ['syslog over TCP', 'syslog'],
] as const;

const metricForms = [
  ['lines of InfluxDB', 'influx'],
  ['lines of StatsD over TCP', 'statsd'],
] as const;

const address = '127.0.0.1:0';
const listeners = ['--syslog-tcp', address, '--forward-tcp', address, '--statsd-tcp', address];

/** @param say called for each phase */
export async function measureWaysIn(
  { seed, bodies, seconds }: WaysInOptions,
  say: (phase: string) => void,
): Promise<WayIn[]> {
  const sockets = await startSocketService(listeners);
  await sockets.restart(toReceivers);
  const { service } = sockets;
  const found: WayIn[] = [];
  const measure = async (name: string, load: Load, run: () => Promise<IngestFigures>) => {
    await load.opened;
    say(name);
    const events = name.includes('batches') ? 'logs' : 'samples';
    found.push({ name, events, figures: await run() });
    await load.stop();
    await drained(service);
    // Building them would count as the next one's. A quick run is too short to be measured by.
    if (seconds >= 1) await indexed(service);
  };
  try {
    for (const [name, form] of logForms) {
      const shape = { seed, form, connections: 16, bodies, eventsPerBody: 1000 };
      const load = openLoad(sockets, shape);
      await measure(`${name}, batches of 1,000, burst`, load, () =>
        form === 'syslog'
          ? measureUnanswered(service, load, seconds)
          : measureBurst(service, load, seconds),
      );
    }
    for (const [name, form] of metricForms) {
      const load = openLoad(sockets, { seed, form, connections: 4, bodies, eventsPerBody: 1000 });
      await measure(`${name}, 1,000 in a request, burst`, load, () =>
        measureBurst(service, load, seconds),
      );
    }
    const shape = { seed, connections: 5, bodies: 10_000, eventsPerBody: 2000 };
    const samples = openLoad(sockets, { ...shape, form: 'remote_write' });
    await measure('remote_write, 2,000 samples of 10,000 series, sustained', samples, () =>
      measureLimit(service, samples, 5 * seconds),
    );
    const pushes = openLoad(sockets, { ...shape, form: 'prom_text' });
    await measure('text push, 2,000 samples of 10,000 series, burst', pushes, () =>
      measureBurst(service, pushes, seconds),
    );
    const points = openLoad(sockets, { ...shape, form: 'otlp_metrics' });
    await measure('metrics as OTLP protobuf, 2,000 points of 10,000 series, burst', points, () =>
      measureBurst(service, points, seconds),
    );
    return found;
  } finally {
    await service.stop();
  }
}

/** The first run creates the receivers. */
function toReceivers({ quickstart: { receivers } }: Service): string[] {
  const { http_json: logs, prometheus } = receivers;
  return [
    `--syslog-receiver=${logs.receiverId}`,
    `--forward-receiver=${logs.receiverId}`,
    `--statsd-receiver=${prometheus.receiverId}`,
  ];
}

function openLoad(sockets: SocketService, shape: LoadShape): Load {
  const { caFile } = sockets.service.quickstart;
  return startLoad({
    ca: readFileSync(caFile, 'utf8'),
    ...targetOf(sockets, shape.form),
    ...shape,
  });
}

function targetOf({ service, port }: SocketService, form: LoadForm) {
  const { ingestUrl, receivers } = service.quickstart;
  const { http_json: json, otlp, prometheus } = receivers;
  const logs = (path: string) => ({ url: json.url.replace(/logs$/, path), token: json.token });
  const socket = (setting: string) => ({ url: `tcp://127.0.0.1:${port(setting)}`, token: '' });
  const samples = (url: string) => ({ url, token: prometheus.token });
  switch (form) {
    case 'json_logs':
      return json;
    case 'lines':
      return logs('lines');
    case 'loki_json':
    case 'loki_protobuf':
      return logs('loki/api/v1/push');
    case 'elasticsearch':
      return logs('elasticsearch/_bulk');
    case 'splunk_hec':
      return logs('services/collector/event');
    case 'datadog':
      return logs('datadog/api/v2/logs');
    case 'gelf':
      return logs('gelf');
    case 'journald':
      return logs('journal/upload');
    case 'syslog':
      return socket('syslog.tcp');
    case 'forward':
      return socket('forward.tcp');
    case 'statsd':
      return socket('statsd.tcp');
    case 'otlp_json':
    case 'otlp_protobuf':
      return otlp;
    case 'otlp_grpc':
      return { url: ingestUrl, token: otlp.token };
    case 'otlp_metrics':
      return { url: otlp.metricsUrl, token: otlp.token };
    case 'remote_write':
      return samples(prometheus.writeUrl);
    case 'prom_text':
      return samples(prometheus.pushUrl);
    case 'influx':
      return samples(prometheus.pushUrl.replace(/prometheus\/metrics$/, 'influx/api/v2/write'));
  }
}
