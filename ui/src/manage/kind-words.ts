/** Display names of receiver kinds. Pure. */
import type { Receiver } from '../api/models.ts';

export type ReceiverKind = Receiver['kind'];

export const kindWords: Readonly<Record<ReceiverKind, string>> = {
  http_json: 'JSON logs',
  otlp: 'OpenTelemetry logs',
  prometheus: 'Prometheus metrics',
};

export const kindHints: Readonly<Record<ReceiverKind, string>> = {
  http_json: 'For curl, pino, Python logging, Vector, Fluent Bit, rsyslog: JSON over HTTPS.',
  otlp: 'For OpenTelemetry SDKs and Collectors: OTLP over HTTP and gRPC.',
  prometheus: 'For Prometheus, vmagent and batch jobs: remote_write and text push.',
};
