/**
 * Configurations for protocols without HTTP, as documented in docs/senders. Weir listens for them
 * when its operator has set an address. Pure.
 */
import {
  type Destination,
  type Snippet,
  systemCaFile,
  toParts,
  toText,
  toYamlScalar,
} from './snippet.ts';

/** For receivers of logs. */
export function toLogListenerSnippets(to: Destination): Snippet[] {
  return [syslog(to), fluentForward(to)];
}

/** For receivers of metrics. */
export function toMetricListenerSnippets({ url }: Destination): Snippet[] {
  const { host, receiverId } = toParts(url);
  return [
    {
      title: 'StatsD',
      blocks: [
        listener(
          `--statsd-udp 0.0.0.0:8125 --statsd-tcp 0.0.0.0:8125 --statsd-receiver ${receiverId}`,
        ),
        {
          caption: 'Bash: a counter',
          language: 'sh',
          text: toText([`echo 'backup.done:1|c|#env:prod' > /dev/udp/${host}/8125`]),
        },
      ],
      note: 'Lines are added up, and stored every ten seconds. Clients need the host and the port.',
    },
  ];
}

/** A way to start Weir with the listeners of a protocol. */
export function listener(options: string, environment = ''): Snippet['blocks'][number] {
  const text = toText([`${environment}weir serve ${options}`]);
  return { caption: 'Weir: its listener, off by default', language: 'sh', text };
}

function syslog({ url, token, caFile = systemCaFile }: Destination): Snippet {
  const { host, receiverId } = toParts(url);
  const property = (name: string, more = '') => `property(name="${name}"${more})`;
  const rsyslog = toText([
    `global(workDirectory="/var/spool/rsyslog" defaultNetstreamDriverCAFile="${caFile}")`,
    'template(name="weir" type="list") {',
    `  constant(value="<") ${property('pri')} constant(value=">1 ")`,
    `  ${property('timestamp', ' dateFormat="rfc3339"')}`,
    ...['hostname', 'app-name', 'procid', 'msgid'].map(
      (name) => `  constant(value=" ") ${property(name)}`,
    ),
    `  constant(value=" [weir token=\\"${token}\\"] ") ${property('msg', ' droplastlf="on"')}`,
    '}',
    'action(',
    `  type="omfwd" target="${host}" port="6514" protocol="tcp"`,
    '  template="weir" TCP_Framing="octet-counted"',
    '  streamDriver="ossl" streamDriverMode="1"',
    `  streamDriverAuthMode="x509/name" streamDriverPermittedPeers="${host}"`,
    '  queue.type="LinkedList" queue.filename="weir" queue.saveOnShutdown="on" ' +
      'queue.maxDiskSpace="1g"',
    '  action.resumeRetryCount="-1" action.resumeInterval="5"',
    ')',
  ]);
  const logger = toText([
    `logger --server ${host} --port 601 --tcp --rfc5424 --octet-count --tag backup ` +
      `'backup finished'`,
  ]);
  return {
    title: 'Syslog',
    blocks: [
      listener(
        '--syslog-tls 0.0.0.0:6514 --syslog-tcp 0.0.0.0:601 --syslog-udp 0.0.0.0:514 ' +
          `--syslog-receiver ${receiverId}`,
      ),
      { caption: '/etc/rsyslog.d/weir.conf', language: 'text', text: rsyslog },
      { caption: 'Shell', language: 'sh', text: logger },
    ],
    note:
      'Devices send to port 514 (UDP) or 601 (TCP), without a token: --syslog-receiver names ' +
      'their receiver. The token in the structured data names another one, and is not stored.',
  };
}

function fluentForward({ url, caFile }: Destination): Snippet {
  const { host, receiverId } = toParts(url);
  const fluentBit = toText([
    'pipeline:',
    '  outputs:',
    '    - name: forward',
    `      match: '*'`,
    `      host: ${host}`,
    '      port: 24224',
    '      require_ack_response: true',
    '      compress: gzip',
    '      shared_key: SECRET',
    '      self_hostname: web-1',
    '      retry_limit: no_limits',
    '      tls: on',
    '      tls.verify: on',
    caFile === undefined ? undefined : `      tls.ca_file: ${toYamlScalar(caFile)}`,
  ]);
  const fluentd = toText([
    '<match **>',
    '  @type forward',
    '  require_ack_response true',
    '  compress gzip',
    '  transport tls',
    caFile === undefined ? undefined : `  tls_cert_path ${caFile}`,
    '  <server>',
    `    host ${host}`,
    '    port 24224',
    '  </server>',
    '  <security>',
    '    self_hostname web-1',
    '    shared_key SECRET',
    '  </security>',
    '  <buffer>',
    '    @type file',
    '    path /var/log/fluentd/weir',
    '    retry_forever true',
    '  </buffer>',
    '</match>',
  ]);
  return {
    title: 'Fluent Forward',
    blocks: [
      listener(
        `--forward-tls 0.0.0.0:24224 --forward-receiver ${receiverId}`,
        'WEIR_FORWARD_SHARED_KEY=SECRET ',
      ),
      { caption: 'fluent-bit.yaml', language: 'yaml', text: fluentBit },
      { caption: 'fluent.conf', language: 'text', text: fluentd },
    ],
    note: 'SECRET is a password of your choice, the same on both sides: tokens are not used here.',
  };
}
