/** Configurations for senders of JSON logs, as documented in docs/senders/json-logs.md. Pure. */
import { nodeSnippet, pinoSnippet } from './node.ts';
import { pythonSnippet } from './python.ts';
import {
  type Destination,
  quoteForShell,
  type Snippet,
  toCurl,
  toParts,
  toText,
  toYamlScalar,
} from './snippet.ts';

export function toJsonLogSnippets(to: Destination): Snippet[] {
  return [
    curl(to),
    nodeSnippet(to),
    pinoSnippet(to),
    pythonSnippet(to),
    vector(to),
    fluentBit(to),
    rsyslog(to),
    weirSend(to),
    weirShip(to),
  ];
}

function curl(to: Destination): Snippet {
  const event = {
    message: 'hello from curl',
    severity: 'INFO',
    service_name: 'curl',
    labels: { answer: 42 },
  };
  const body = `  -d ${quoteForShell(JSON.stringify(event))}`;
  const text = toText(toCurl(to, 'application/json', [body]));
  return {
    title: 'curl',
    blocks: [{ caption: 'Shell', language: 'sh', text }],
    note: 'The response is {"accepted":1}. Send arrays of about 1,000 objects.',
  };
}

function vector({ url, token, caFile }: Destination): Snippet {
  const text = toText([
    'sinks:',
    '  weir:',
    '    type: http',
    '    inputs: [app_logs]',
    `    uri: ${url}`,
    '    encoding:',
    '      codec: json',
    '    compression: none',
    '    auth:',
    '      strategy: bearer',
    `      token: ${token}`,
    ...(caFile === undefined ? [] : ['    tls:', `      ca_file: ${toYamlScalar(caFile)}`]),
    '    batch:',
    '      max_events: 1000',
    '    buffer:',
    '      type: disk',
    '      max_size: 1073741824',
  ]);
  return {
    title: 'Vector',
    blocks: [{ caption: 'vector.yaml', language: 'yaml', text }],
    note: 'Replace app_logs with your source. The disk buffer holds events during an outage.',
  };
}

function fluentBit({ url, token, caFile }: Destination): Snippet {
  const { host, port, path } = toParts(url);
  const text = toText([
    'pipeline:',
    '  inputs:',
    '    - name: tail',
    '      path: /var/log/app/*.log',
    '      tag: app',
    '  filters:',
    '    - name: modify',
    '      match: app',
    '      add: service_name app',
    '  outputs:',
    '    - name: http',
    '      match: app',
    `      host: ${host}`,
    `      port: ${port}`,
    `      uri: ${path}`,
    '      format: json',
    '      json_date_key: timestamp',
    '      json_date_format: iso8601',
    `      header: Authorization Bearer ${token}`,
    '      retry_limit: no_limits',
    '      tls: on',
    '      tls.verify: on',
    '      tls.verify_hostname: on',
    caFile === undefined ? undefined : `      tls.ca_file: ${toYamlScalar(caFile)}`,
  ]);
  return {
    title: 'Fluent Bit',
    blocks: [{ caption: 'fluent-bit.yaml', language: 'yaml', text }],
    note: 'By default it retries once (retry_limit).',
  };
}

function rsyslog({ url, token, caFile }: Destination): Snippet {
  const { host, port, path } = toParts(url);
  const property = (name: string, outname: string, more = '') =>
    `  property(name="${name}" outname="${outname}" format="jsonf"${more})`;
  const comma = '  constant(value=",")';
  const text = toText([
    'module(load="omhttp")',
    '',
    'template(name="weir" type="list") {',
    '  constant(value="{")',
    property('timereported', 'timestamp', ' dateFormat="rfc3339"'),
    comma,
    property('hostname', 'host'),
    comma,
    property('programname', 'service_name'),
    comma,
    property('syslogseverity-text', 'severity'),
    comma,
    property('msg', 'message'),
    '  constant(value="}")',
    '}',
    '',
    'action(',
    '  type="omhttp"',
    `  server="${host}" serverport="${port}" usehttps="on"`,
    `  restpath="${path.replace(/^\//, '')}"`,
    `  httpheaders=["Authorization: Bearer ${token}"]`,
    '  httpcontenttype="application/json"',
    caFile === undefined ? undefined : `  tls.cacert="${caFile}"`,
    '  template="weir" batch="on" batch.format="jsonarray" batch.maxsize="1000"',
    '  queue.type="linkedlist" queue.filename="weir" queue.saveonshutdown="on"',
    '  action.resumeretrycount="-1"',
    ')',
  ]);
  return {
    title: 'rsyslog',
    blocks: [{ caption: '/etc/rsyslog.d/weir.conf', language: 'text', text }],
    note: 'Needs the module omhttp, a separate package in some distributions. Use absolute paths.',
  };
}

function weirSend(to: Destination): Snippet {
  const text = toText([
    ...environment(to),
    `weir send 'hello from weir' --service shell`,
    'journalctl -f -o cat | weir send --service journal',
  ]);
  return {
    title: 'weir send',
    blocks: [{ caption: 'Shell', language: 'sh', text }],
    note: 'Sends standard input in batches and retries without storing a line twice.',
  };
}

function weirShip(to: Destination): Snippet {
  const text = toText([
    ...environment(to),
    `weir ship '/var/log/nginx/*.log*' --service nginx --state /var/lib/weir-ship`,
  ]);
  return {
    title: 'weir ship',
    blocks: [{ caption: 'Shell', language: 'sh', text }],
    note:
      'Follows files over rotations and restarts, each line once. Containers: --container docker ' +
      'or cri. The journal: weir ship --journal.',
  };
}

function environment({ url, token, caFile }: Destination): (string | undefined)[] {
  return [
    `export WEIR_RECEIVER_URL=${quoteForShell(url)}`,
    `export WEIR_INGEST_TOKEN=${quoteForShell(token)}`,
    caFile === undefined ? undefined : `export WEIR_CA_FILE=${quoteForShell(caFile)}`,
  ];
}
