/**
 * Configurations for senders of OpenTelemetry logs and metrics, as documented in
 * docs/senders/otlp.md and docs/senders/otlp-metrics.md. Pure.
 */
import {
  type Destination,
  type Snippet,
  toCurl,
  toParts,
  toShellWord,
  toText,
  toYamlScalar,
} from './snippet.ts';

/** `url` is the address of logs. */
export interface OtlpDestination extends Destination {
  readonly metricsUrl: string;
  /** `host:port`. */
  readonly grpc: string;
}

export function toOtlpSnippets(to: OtlpDestination): Snippet[] {
  return [collector(to), sdk(to), languages(to), fluentBit(to), vector(to), curl(to)];
}

function collector(to: OtlpDestination): Snippet {
  const http = toText([
    'extensions:',
    '  bearertokenauth/weir:',
    `    token: ${to.token}`,
    '  file_storage/weir:',
    '    directory: /var/lib/otelcol/weir',
    '',
    'receivers:',
    '  otlp:',
    '    protocols:',
    '      grpc:',
    '        endpoint: 127.0.0.1:4317',
    '',
    'exporters:',
    '  otlp_http/weir:',
    `    logs_endpoint: ${to.url}`,
    `    metrics_endpoint: ${to.metricsUrl}`,
    ...exporterEnd(to),
    '',
    'service:',
    '  extensions: [bearertokenauth/weir, file_storage/weir]',
    '  pipelines:',
    '    logs:',
    '      receivers: [otlp]',
    '      exporters: [otlp_http/weir]',
    '    metrics:',
    '      receivers: [otlp]',
    '      exporters: [otlp_http/weir]',
  ]);
  const grpc = toText([
    'exporters:',
    '  otlp_grpc/weir:',
    `    endpoint: ${to.grpc}`,
    ...exporterEnd(to),
  ]);
  return {
    title: 'OTel Collector',
    blocks: [
      { caption: 'collector.yaml', language: 'yaml', text: http },
      {
        caption: 'collector.yaml with gRPC: only the exporter differs',
        language: 'yaml',
        text: grpc,
      },
    ],
    note:
      'Before 0.144 the exporters are called otlphttp and otlp. With file_storage the queue ' +
      'survives a restart of the Collector; its directory must exist.',
  };
}

function exporterEnd({ caFile }: Destination): string[] {
  return [
    '    compression: gzip',
    '    auth:',
    '      authenticator: bearertokenauth/weir',
    ...(caFile === undefined ? [] : ['    tls:', `      ca_file: ${toYamlScalar(caFile)}`]),
    '    retry_on_failure:',
    '      max_elapsed_time: 0',
    '    sending_queue:',
    '      storage: file_storage/weir',
  ];
}

function sdk(to: OtlpDestination): Snippet {
  const { metricsUrl: url } = to;
  return {
    title: 'OTel SDK',
    blocks: [
      { caption: 'Environment, over HTTP', language: 'sh', text: httpVariables('LOGS', to) },
      { caption: 'Environment, over gRPC', language: 'sh', text: grpcVariables(to) },
      {
        caption: 'Environment for metrics',
        language: 'sh',
        text: httpVariables('METRICS', { ...to, url }),
      },
    ],
    note: 'All SDKs read these variables. They leave the export of other signals unchanged.',
  };
}

function languages(to: OtlpDestination): Snippet {
  const variables = httpVariables('LOGS', to);
  const block = (caption: string, command: string) =>
    ({ caption, language: 'sh', text: `${variables}${command}\n` }) as const;
  return {
    title: 'Node, Python, Java',
    blocks: [
      block(
        'Node.js: @opentelemetry/auto-instrumentations-node',
        'OTEL_LOGS_EXPORTER=otlp OTEL_SERVICE_NAME=my-service \\\n' +
          '  node --require @opentelemetry/auto-instrumentations-node/register app.js',
      ),
      block(
        'Python: opentelemetry-distro, opentelemetry-exporter-otlp',
        'OTEL_PYTHON_LOGGING_AUTO_INSTRUMENTATION_ENABLED=true OTEL_SERVICE_NAME=my-service \\\n' +
          '  opentelemetry-instrument --logs_exporter otlp python app.py',
      ),
      block(
        'Java: opentelemetry-javaagent.jar',
        'OTEL_LOGS_EXPORTER=otlp OTEL_SERVICE_NAME=my-service \\\n' +
          '  java -javaagent:opentelemetry-javaagent.jar -jar app.jar',
      ),
    ],
    note:
      'Needs no change of the program. Set OTEL_TRACES_EXPORTER=none and ' +
      'OTEL_METRICS_EXPORTER=none to export logs only.',
  };
}

function httpVariables(signal: 'LOGS' | 'METRICS', { url, token, caFile }: Destination): string {
  return toText([
    `export OTEL_EXPORTER_OTLP_${signal}_PROTOCOL=http/protobuf`,
    `export OTEL_EXPORTER_OTLP_${signal}_ENDPOINT=${url}`,
    ...variablesEnd(signal, token, caFile),
    `export OTEL_EXPORTER_OTLP_${signal}_COMPRESSION=gzip`,
  ]);
}

function grpcVariables({ url, token, caFile }: OtlpDestination): string {
  return toText([
    'export OTEL_EXPORTER_OTLP_LOGS_PROTOCOL=grpc',
    `export OTEL_EXPORTER_OTLP_LOGS_ENDPOINT=${new URL(url).origin}`,
    ...variablesEnd('LOGS', token, caFile),
  ]);
}

function variablesEnd(
  signal: 'LOGS' | 'METRICS',
  token: string,
  caFile: string | undefined,
): (string | undefined)[] {
  return [
    `export OTEL_EXPORTER_OTLP_${signal}_HEADERS="authorization=Bearer%20${token}"`,
    caFile && `export OTEL_EXPORTER_OTLP_${signal}_CERTIFICATE=${toShellWord(caFile)}`,
  ];
}

function fluentBit({ url, token, caFile }: OtlpDestination): Snippet {
  const { host, port, path } = toParts(url);
  const text = toText([
    'pipeline:',
    '  outputs:',
    '    - name: opentelemetry',
    `      match: '*'`,
    `      host: ${host}`,
    `      port: ${port}`,
    `      logs_uri: ${path}`,
    '      logs_body_key: $log',
    '      logs_body_key_attributes: true',
    '      logs_severity_text_message_key: $level',
    `      header: Authorization Bearer ${token}`,
    '      compress: gzip',
    '      retry_limit: no_limits',
    '      tls: on',
    '      tls.verify: on',
    '      tls.verify_hostname: on',
    caFile === undefined ? undefined : `      tls.ca_file: ${toYamlScalar(caFile)}`,
  ]);
  return { title: 'Fluent Bit', blocks: [{ caption: 'fluent-bit.yaml', language: 'yaml', text }] };
}

function vector({ url, token, caFile }: OtlpDestination): Snippet {
  const text = toText([
    'sinks:',
    '  weir:',
    '    type: opentelemetry',
    '    inputs: [otel.logs]',
    '    protocol:',
    '      type: http',
    `      uri: ${url}`,
    '      method: post',
    '      encoding:',
    '        codec: otlp',
    '      request:',
    '        headers:',
    '          content-type: application/x-protobuf',
    '      auth:',
    '        strategy: bearer',
    `        token: ${token}`,
    ...(caFile === undefined ? [] : ['      tls:', `        ca_file: ${toYamlScalar(caFile)}`]),
  ]);
  return {
    title: 'Vector',
    blocks: [{ caption: 'vector.yaml', language: 'yaml', text }],
    note:
      'Needs events in OTLP format, such as those of the opentelemetry source with ' +
      'use_otlp_decoding. For other logs use a receiver for JSON logs.',
  };
}

function curl(to: OtlpDestination): Snippet {
  const json = 'application/json';
  const logs = toCurl(to, json, [
    `  -d '{"resourceLogs": [{`,
    `        "resource": {"attributes": [`,
    `          {"key": "service.name", "value": {"stringValue": "curl"}}`,
    `        ]},`,
    `        "scopeLogs": [{"logRecords": [`,
    `          {"severityText": "INFO", "body": {"stringValue": "hello from curl"}}`,
    `        ]}]`,
    `      }]}'`,
  ]);
  const metrics = toCurl({ ...to, url: to.metricsUrl }, json, [
    `  -d '{"resourceMetrics": [{`,
    `        "resource": {"attributes": [`,
    `          {"key": "service.name", "value": {"stringValue": "curl"}}`,
    `        ]},`,
    `        "scopeMetrics": [{"metrics": [`,
    `          {"name": "hello", "gauge": {"dataPoints": [{"asInt": "1"}]}}`,
    `        ]}]`,
    `      }]}'`,
  ]);
  return {
    title: 'curl',
    blocks: [
      { caption: 'Shell: a log', language: 'sh', text: toText(logs) },
      { caption: 'Shell: a metric', language: 'sh', text: toText(metrics) },
    ],
  };
}
