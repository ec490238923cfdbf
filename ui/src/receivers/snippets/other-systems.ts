/** Commands for clients of other systems, as documented in docs/senders. Pure. */
import { listener } from './listeners.ts';
import {
  type Destination,
  type Snippet,
  systemCaFile,
  toParts,
  toShellWord,
  toText,
} from './snippet.ts';

/** For receivers of logs. `url` ends in `/logs`. */
export function toOtherLogSnippets({ url, token, caFile }: Destination): Snippet[] {
  const base = url.replace(/\/logs$/, '');
  const { origin } = new URL(url);
  const curl = toCurl(caFile);
  return [
    inShell('Lines', [
      `gzip -c app.ndjson | ${curl} -H "Authorization: Bearer ${token}" \\`,
      `  -H 'Content-Encoding: gzip' -H 'Content-Type: application/x-ndjson' --data-binary @- \\`,
      `  ${base}/lines`,
    ]),
    inShell(
      'Loki',
      [
        `${curl} ${base}/loki/api/v1/push \\`,
        `  -H "Authorization: Bearer ${token}" -H 'Content-Type: application/json' \\`,
        `  -d '{"streams": [{"stream": {"app": "backup"}, ` +
          `"values": [["'"$(date +%s%N)"'", "backup finished"]]}]}'`,
      ],
      `Alloy, Promtail and other clients of Loki push to ${base}/loki/api/v1/push.`,
    ),
    inShell(
      'Elasticsearch',
      [
        `${curl} ${base}/elasticsearch/_bulk \\`,
        `  -H "Authorization: ApiKey $(printf 'weir:%s' "${token}" | base64 -w0)" \\`,
        `  -H 'Content-Type: application/x-ndjson' --data-binary @- <<'BULK'`,
        '{"create": {"_index": "logs-backup-default"}}',
        '{"message": "backup finished", "service": {"name": "backup"}, "log": {"level": "info"}}',
        'BULK',
      ],
      `Filebeat, Logstash and client libraries get ${base}/elasticsearch as their URL.`,
    ),
    inShell(
      'Splunk',
      [
        `${curl} ${origin}/services/collector/event \\`,
        `  -H "Authorization: Splunk ${token}" \\`,
        `  -d '{"host": "db-1", "event": {` +
          `"message": "backup finished", "severity": "INFO", "service": "backup"}}'`,
      ],
      `Clients of the HTTP Event Collector get ${origin} as their URL.`,
    ),
    inShell(
      'Datadog',
      [
        `${curl} ${origin}/api/v2/logs \\`,
        `  -H "DD-API-KEY: ${token}" -H 'Content-Type: application/json' \\`,
        `  -d '[{"message": "backup finished", "service": "backup", ` +
          `"status": "info", "ddtags": "env:prod"}]'`,
      ],
      `The Agent gets ${origin} as the address of its logs intake.`,
    ),
    gelf({ url, token, caFile }),
    journald({ url, token, caFile }),
  ];
}

function gelf({ url, token, caFile }: Destination): Snippet {
  const { blocks } = inShell('GELF', [
    `${toCurl(caFile)} ${url.replace(/logs$/, 'gelf')} \\`,
    `  -H "Authorization: Bearer ${token}" \\`,
    `  -d '{"version": "1.1", "host": "db-1", "short_message": "backup finished", ` +
      `"level": 6, "_service": "backup"}'`,
  ]);
  const listening = listener(
    '--gelf-tcp 0.0.0.0:12201 --gelf-tls 0.0.0.0:12202 --gelf-udp 0.0.0.0:12201 ' +
      `--gelf-receiver ${toParts(url).receiverId}`,
  );
  return {
    title: 'GELF',
    blocks: [...blocks, listening],
    note: 'Senders over TCP, TLS and UDP need a listener of Weir, and no token.',
  };
}

function journald({ url, token, caFile = systemCaFile }: Destination): Snippet {
  const { origin } = new URL(url);
  const base = url.replace(/logs$/, 'journal').replace(origin, '');
  const text = toText([
    '[Upload]',
    `URL=${origin.replace('://', `://weir:${token}@`)}${base}`,
    'ServerKeyFile=-',
    'ServerCertificateFile=-',
    `TrustedCertificateFile=${caFile}`,
  ]);
  return {
    title: 'journald',
    blocks: [{ caption: '/etc/systemd/journal-upload.conf', language: 'text', text }],
    note:
      'For systemd-journal-upload, in the package systemd-journal-remote. The file has the ' +
      'token: chmod 640 it, and chgrp systemd-journal-upload it.',
  };
}

/** For receivers of metrics. `url` is the remote write endpoint. */
export function toOtherMetricSnippets({ url, token, caFile }: Destination): Snippet[] {
  const base = url.replace(/\/prometheus\/.*$/, '');
  return [
    inShell(
      'InfluxDB',
      [
        `printf 'backup,job=backup last_success=%s\\n' "$(date +%s)" |`,
        `${toCurl(caFile)} ${new URL(url).origin}/api/v2/write \\`,
        `  -H "Authorization: Token ${token}" --data-binary @-`,
      ],
      `Telegraf and client libraries get ${base}/influx as their URL.`,
    ),
  ];
}

function toCurl(caFile: string | undefined): string {
  return caFile === undefined ? 'curl' : `curl --cacert ${toShellWord(caFile)}`;
}

function inShell(title: string, lines: readonly string[], note?: string): Snippet {
  const blocks = [{ caption: 'Shell', language: 'sh', text: toText(lines) }] as const;
  return { title, blocks, ...(note !== undefined && { note }) };
}
