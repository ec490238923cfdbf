/** `weir serve`: runs the service until it is stopped and prints how to reach it. */
import { listSettings } from '../config/settings.ts';
import { run, type Weir } from '../main.ts';
import { toReceiverUrls } from '../model/receiver-urls.ts';
import type { EngineNode } from '../service/engine-node.ts';
import { loadSettings } from './settings.ts';

const exitGraceMs = 1000;
/** As it is run from a checkout and where it is installed. */
const command = import.meta.url.endsWith('.ts') ? 'npm run weir --' : 'weir';

/** Resolves once the service has stopped. @throws Error when a part cannot be opened */
export async function serve(argv: readonly string[]): Promise<void> {
  if (argv.includes('--help') || argv.includes('-h')) {
    process.stdout.write(help());
    return;
  }
  const config = loadSettings(argv, process.env);
  try {
    await run(config, (running) => {
      const text =
        'storeUrl' in running ? engineWelcome(running, config.data) : welcome(running, config.data);
      process.stdout.write(text);
    });
  } finally {
    // A closed client may keep a socket to a server that hangs; the process does not wait for it.
    setTimeout(() => process.exit(), exitGraceMs).unref();
  }
}

function help(): string {
  const settings = listSettings().map(({ flag, environment, description, defaultValue }) => {
    const value = defaultValue === '' ? '' : ` (default ${JSON.stringify(defaultValue)})`;
    return `  ${flag}  ${environment}\n      ${description}${value}`;
  });
  return `Usage: weir serve [--name value …]

Runs the service. Settings are flags, environment variables, or keys of the JSON file that
--config names.

${settings.join('\n')}
`;
}

/** Addresses, and on the first run commands to paste. */
function welcome({ roles, addresses, firstRun, signInUrl }: Weir, dataDir: string): string {
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
  const warning = caFile === undefined ? '' : ` (import Weir's authority first: ${caFile})`;
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

Open the explorer:

  ${signInUrl ?? streamUrl}${warning}
  This link signs one browser in, within 10 minutes; ${command} open prints another. Or sign in with
  ${firstRun.accessToken}

For OpenTelemetry and Prometheus see docs/senders.

`;
}

function engineWelcome({ storeUrl, opsUrl }: EngineNode, dataDir: string): string {
  return `Weir's engine is ready.

  store    ${storeUrl} (store.url of the other nodes)
  metrics  ${opsUrl}/metrics
  data     ${dataDir}
`;
}

/** Quotes one word for a POSIX shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
