/**
 * What `weir serve` prints once it is ready: where it answers, and commands that work when they are
 * pasted.
 */
import type { Weir } from '../main.ts';
import type { EngineNode } from '../service/engine-node.ts';
import { toReceiverUrls } from '../model/receiver-urls.ts';

export function welcome({ roles, addresses, firstRun }: Weir, dataDir: string): string {
  const { ingestUrl, streamUrl, opsUrl, caFile } = addresses;
  const lines = [
    ...(roles.has('gateway') ? [`send     ${ingestUrl}`] : []),
    ...(roles.has('stream') ? [`read     ${streamUrl}`, `explore  ${streamUrl} in a browser`] : []),
    `metrics  ${opsUrl}/metrics`,
    `data     ${dataDir} (tokens and addresses: quickstart.json)`,
  ];
  const places = `Weir is ready.\n\n${lines.map((line) => `  ${line}\n`).join('')}`;
  if (firstRun === undefined) return places;
  const trust = caFile === undefined ? '' : ` --cacert ${quote(caFile)}`;
  const warning = caFile === undefined ? '' : ` (it will not know Weir's own authority, ${caFile})`;
  const { http_json: json, prometheus } = firstRun.receivers;
  const { url } = toReceiverUrls({ kind: 'http_json', ...json }, ingestUrl);
  const { pushUrl } = toReceiverUrls({ kind: 'prometheus', ...prometheus }, ingestUrl);
  return `${places}
Send a log:

  curl${trust} ${quote(url)} \\
    -H ${quote(`Authorization: Bearer ${json.token}`)} \\
    -H 'Content-Type: application/json' \\
    -d '{"message":"hello, river","severity":"INFO","service_name":"demo","labels":{"env":"dev"}}'

Read it back:

  curl${trust} ${quote(`${streamUrl}/api/v1/logs?limit=10`)} \\
    -H ${quote(`Authorization: Bearer ${firstRun.accessToken}`)} \\
    -H ${quote(`X-Active-Account: ${firstRun.accountId}`)}

Push a metric:

  echo 'rainfall_mm{site="dam"} 12.5' | curl${trust} ${quote(pushUrl)} \\
    -H ${quote(`Authorization: Bearer ${prometheus.token}`)} \\
    -H 'Content-Type: text/plain' --data-binary @-

Look at it in a browser:

  ${streamUrl}${warning}
  sign in with ${firstRun.accessToken}

OpenTelemetry and Prometheus send here too: docs/senders.

`;
}

export function engineWelcome({ storeUrl, opsUrl }: EngineNode, dataDir: string): string {
  return `Weir's engine is ready.

  store    ${storeUrl} (store.url of the other nodes)
  metrics  ${opsUrl}/metrics
  data     ${dataDir}
`;
}

/** One word for a POSIX shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
