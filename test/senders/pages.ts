/** The pages with commands as blocks of text, ready to run. */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Service } from '../harness/service.ts';

const repository = fileURLToPath(new URL('../..', import.meta.url));

export interface Page {
  /** Relative to the repository. */
  readonly path: string;
  readonly text: string;
}

export interface Block {
  readonly path: string;
  /** Language of the fence, such as `yaml`. */
  readonly language: string;
  readonly text: string;
}

const senderPages = '{docs/senders/*,docs/reading-metrics,docs/ship}.md';

export function readPages(pattern = senderPages): Page[] {
  return globSync(pattern, { cwd: repository })
    .map((path) => path.replaceAll('\\', '/'))
    .sort()
    .map((path) => ({ path, text: readFileSync(join(repository, path), 'utf8') }));
}

export function blocksOf({ path, text }: Page): Block[] {
  return Array.from(text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm), ([, language, content]) => ({
    path,
    language: language ?? '',
    text: content ?? '',
  }));
}

/** Files that the links of a page point to, from the root of the repository. */
export function linksOf({ path, text }: Page): string[] {
  return Array.from(text.matchAll(/\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)/g), ([, target]) =>
    join(path, '..', target ?? ''),
  );
}

/**
 * A block with placeholders replaced by the addresses, ids and files of this service.
 * @param folder for a file with the token
 */
export function fillIn({ path, text }: Block, { quickstart }: Service, folder: string): string {
  const { receivers, ingestUrl, streamUrl, caFile, accountId } = quickstart;
  const kinds = {
    'json-logs': receivers.http_json,
    loki: receivers.http_json,
    datadog: receivers.http_json,
    gelf: receivers.http_json,
    journald: receivers.http_json,
    elasticsearch: receivers.http_json,
    splunk: receivers.http_json,
    otlp: receivers.otlp,
    'otlp-metrics': receivers.otlp,
  };
  const name = /([\w-]+)\.md$/.exec(path)?.[1] ?? '';
  const receiver = Object.entries(kinds).find(([kind]) => kind === name)?.[1];
  const { receiverId, token } = receiver ?? receivers.prometheus;
  const tokenFile = join(folder, `${name}.token`);
  writeFileSync(tokenFile, token, { mode: 0o600 });
  return text
    .replaceAll('https://weir.example.com:8443', ingestUrl)
    .replaceAll('https://weir.example.com:8444', streamUrl)
    .replaceAll('RECEIVER_ID', receiverId)
    .replaceAll('<ACCOUNT_UUID>', accountId)
    .replaceAll('/etc/weir/token', tokenFile)
    .replaceAll('/etc/weir/ca.pem', caFile);
}
