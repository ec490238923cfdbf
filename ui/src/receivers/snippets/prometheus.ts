/**
 * Configurations for senders of metrics, as documented in docs/senders/remote-write.md and
 * docs/senders/prometheus-push.md. Pure.
 */
import {
  type Destination,
  quoteForShell,
  type Snippet,
  toCurl,
  toParts,
  toShellWord,
  toText,
  toYamlScalar,
} from './snippet.ts';

/** `url` is the remote write endpoint. */
export interface PrometheusDestination extends Destination {
  /** Endpoint for the text format and OpenMetrics. */
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
    ...(caFile === undefined ? [] : ['    tls_config:', `      ca_file: ${toYamlScalar(caFile)}`]),
    '    send_exemplars: true',
    '    send_native_histograms: true',
    '    queue_config:',
    '      retry_on_http_429: true',
  ]);
  return {
    title: 'Prometheus',
    blocks: [{ caption: 'prometheus.yml', language: 'yaml', text }],
    note:
      'If several Prometheus servers write to this receiver, give each its external_labels. ' +
      'Use credentials_file instead of credentials to read the token from a file.',
  };
}

function vmagent({ url, token, caFile }: PrometheusDestination): Snippet {
  const text = toText([
    'vmagent -promscrape.config=/etc/vmagent/scrape.yml \\',
    `  -remoteWrite.url=${url} \\`,
    `  -remoteWrite.bearerToken=${quoteForShell(token)} \\`,
    caFile === undefined ? undefined : `  -remoteWrite.tlsCAFile=${toShellWord(caFile)} \\`,
    '  -remoteWrite.tmpDataPath=/var/lib/vmagent',
  ]);
  return {
    title: 'vmagent',
    blocks: [{ caption: 'Shell', language: 'sh', text }],
    note:
      'Unsent samples are buffered in tmpDataPath. Use -remoteWrite.bearerTokenFile to keep the ' +
      'token out of the process list.',
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
    ...(caFile === undefined ? [] : ['    tls:', `      ca_file: ${toYamlScalar(caFile)}`]),
    '    resource_to_telemetry_conversion:',
    '      enabled: true',
  ]);
  return {
    title: 'OTel Collector',
    blocks: [{ caption: 'collector.yaml', language: 'yaml', text }],
    note: 'Add bearertokenauth/weir to service.extensions, and the exporter to a metrics pipeline.',
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
    ...(caFile === undefined ? [] : ['    tls:', `      ca_file: ${toYamlScalar(caFile)}`]),
    '    healthcheck:',
    '      enabled: false',
  ]);
  return {
    title: 'Vector',
    blocks: [{ caption: 'vector.yaml', language: 'yaml', text }],
    note: 'Replace host_metrics with the name of your source.',
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
    caFile === undefined ? undefined : `      tls.ca_file: ${toYamlScalar(caFile)}`,
  ]);
  return { title: 'Fluent Bit', blocks: [{ caption: 'fluent-bit.yaml', language: 'yaml', text }] };
}

function push(to: PrometheusDestination): Snippet {
  const text = toText([
    `printf '%s\\n' \\`,
    `  '# TYPE backup_last_success_timestamp_seconds gauge' \\`,
    `  "backup_last_success_timestamp_seconds{job=\\"backup\\"} $(date +%s)" |`,
    ...toCurl({ ...to, url: to.pushUrl }, 'text/plain; version=0.0.4', ['  --data-binary @-']),
  ]);
  return {
    title: 'curl (batch jobs)',
    blocks: [{ caption: 'Shell', language: 'sh', text }],
    note: 'Output of an exporter can be pushed unchanged. A push adds samples and replaces none.',
  };
}
