/**
 * Senders of metrics. The forms are those of docs/senders/remote-write.md and
 * docs/senders/prometheus-push.md. Pure.
 */
import { type Destination, quoteForShell, type Snippet, toParts, toText } from './snippet.ts';

/** `url` is the one for remote_write. */
export interface PrometheusDestination extends Destination {
  /** For text and OpenMetrics. */
  readonly pushUrl: string;
}

export function toPrometheusSnippets(to: PrometheusDestination): Snippet[] {
  return [prometheus(to), vmagent(to), collector(to), vector(to), fluentBit(to), push(to)];
}

function prometheus({ url, token, caFile }: PrometheusDestination): Snippet {
  const text = toText([
    'remote_write:',
    `  - url: ${url}`,
    '    authorization:',
    `      credentials: ${token}`,
    ...(caFile === undefined ? [] : ['    tls_config:', `      ca_file: ${caFile}`]),
    '    send_exemplars: true',
    '    send_native_histograms: true',
    '    queue_config:',
    '      retry_on_http_429: true',
  ]);
  return {
    title: 'Prometheus',
    blocks: [{ caption: 'prometheus.yml', language: 'yaml', text }],
    note:
      'Give each of several Prometheus servers its own external_labels. credentials_file in ' +
      'place of credentials keeps the token in a file.',
  };
}

function vmagent({ url, token, caFile }: PrometheusDestination): Snippet {
  const text = toText([
    'vmagent -promscrape.config=/etc/vmagent/scrape.yml \\',
    `  -remoteWrite.url=${url} \\`,
    `  -remoteWrite.bearerToken=${quoteForShell(token)} \\`,
    caFile === undefined ? undefined : `  -remoteWrite.tlsCAFile=${caFile} \\`,
    '  -remoteWrite.tmpDataPath=/var/lib/vmagent',
  ]);
  return {
    title: 'vmagent',
    blocks: [{ caption: 'Shell', language: 'sh', text }],
    note:
      'What cannot be sent waits in tmpDataPath. -remoteWrite.bearerTokenFile keeps the token ' +
      'out of the list of processes.',
  };
}

function collector({ url, token, caFile }: PrometheusDestination): Snippet {
  const text = toText([
    'extensions:',
    '  bearertokenauth/weir:',
    `    token: ${token}`,
    '',
    'exporters:',
    '  prometheusremotewrite/weir:',
    `    endpoint: ${url}`,
    '    auth:',
    '      authenticator: bearertokenauth/weir',
    ...(caFile === undefined ? [] : ['    tls:', `      ca_file: ${caFile}`]),
    '    resource_to_telemetry_conversion:',
    '      enabled: true',
  ]);
  return {
    title: 'OTel Collector',
    blocks: [{ caption: 'collector.yaml', language: 'yaml', text }],
    note:
      'Name bearertokenauth/weir in service.extensions, and the exporter in a pipeline of ' +
      'metrics.',
  };
}

function vector({ url, token, caFile }: PrometheusDestination): Snippet {
  const text = toText([
    'sinks:',
    '  weir:',
    '    type: prometheus_remote_write',
    '    inputs: [host_metrics]',
    `    endpoint: ${url}`,
    '    compression: snappy',
    '    auth:',
    '      strategy: bearer',
    `      token: ${token}`,
    ...(caFile === undefined ? [] : ['    tls:', `      ca_file: ${caFile}`]),
    '    healthcheck:',
    '      enabled: false',
  ]);
  return {
    title: 'Vector',
    blocks: [{ caption: 'vector.yaml', language: 'yaml', text }],
    note: 'Put the name of your source in place of host_metrics.',
  };
}

function fluentBit({ url, token, caFile }: PrometheusDestination): Snippet {
  const { host, port, path } = toParts(url);
  const text = toText([
    'pipeline:',
    '  inputs:',
    '    - name: node_exporter_metrics',
    '      tag: metrics',
    '      scrape_interval: 15',
    '  outputs:',
    '    - name: prometheus_remote_write',
    '      match: metrics',
    `      host: ${host}`,
    `      port: ${port}`,
    `      uri: ${path}`,
    `      header: Authorization Bearer ${token}`,
    '      add_label: job node',
    '      retry_limit: no_limits',
    '      tls: on',
    '      tls.verify: on',
    '      tls.verify_hostname: on',
    caFile === undefined ? undefined : `      tls.ca_file: ${caFile}`,
  ]);
  return { title: 'Fluent Bit', blocks: [{ caption: 'fluent-bit.yaml', language: 'yaml', text }] };
}

function push({ pushUrl, token, caFile }: PrometheusDestination): Snippet {
  const authority = caFile === undefined ? '' : `--cacert ${quoteForShell(caFile)} `;
  const text = toText([
    `printf '%s\\n' \\`,
    `  '# TYPE backup_last_success_timestamp_seconds gauge' \\`,
    `  "backup_last_success_timestamp_seconds{job=\\"backup\\"} $(date +%s)" |`,
    `curl ${authority}${quoteForShell(pushUrl)} \\`,
    `  -H ${quoteForShell(`Authorization: Bearer ${token}`)} \\`,
    `  -H 'Content-Type: text/plain; version=0.0.4' \\`,
    '  --data-binary @-',
  ]);
  return {
    title: 'curl (batch jobs)',
    blocks: [{ caption: 'Shell', language: 'sh', text }],
    note: 'What an exporter prints is pushed as it stands. A push adds samples and replaces none.',
  };
}
