/** Types and helpers for sender configurations that users copy. Pure. */

/** Endpoint and credentials of a sender. */
export interface Destination {
  /** The complete endpoint URL, as the API returns it. */
  readonly url: string;
  /** The secret, or `tokenPlaceholder`. */
  readonly token: string;
  /** Path of Weir's CA certificate; undefined = the system's trust store suffices. */
  readonly caFile: string | undefined;
}

export interface Snippet {
  /** Name of the sender. */
  readonly title: string;
  readonly blocks: readonly SnippetBlock[];
  /** Shown below the configuration. */
  readonly note?: string;
}

export interface SnippetBlock {
  /** File name, or where to run it. */
  readonly caption: string;
  readonly language: 'sh' | 'yaml' | 'js' | 'python' | 'text';
  readonly text: string;
}

export const tokenPlaceholder = '<RECEIVER_TOKEN>';

/** Joins lines, each with a line end; skips undefined ones. */
export function toText(lines: readonly (string | undefined)[]): string {
  return lines
    .filter((line) => line !== undefined)
    .map((line) => `${line}\n`)
    .join('');
}

/** Quotes a text as one shell word. */
export function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Lines of a curl command that posts; the last one of `rest` ends it. */
export function toCurl(
  { url, token, caFile }: Destination,
  mediaType: string,
  rest: readonly string[],
): string[] {
  const authority = caFile === undefined ? '' : `--cacert ${quoteForShell(caFile)} `;
  return [
    `curl ${authority}${quoteForShell(url)} \\`,
    `  -H ${quoteForShell(`Authorization: Bearer ${token}`)} \\`,
    `  -H 'Content-Type: ${mediaType}' \\`,
    ...rest,
  ];
}

/** Quotes a path as one shell word if it needs quotes. */
export function toShellWord(path: string): string {
  return plainPath.test(path) ? path : quoteForShell(path);
}

/** Quotes a path as one YAML scalar if it needs quotes. */
export function toYamlScalar(path: string): string {
  return plainPath.test(path) ? path : JSON.stringify(path);
}

const plainPath = /^[\w./-]+$/;

/** What Debian trusts, for senders that must name a file. */
export const systemCaFile = '/etc/ssl/certs/ca-certificates.crt';

/** Splits a receiver's URL for senders that configure its parts separately. */
export function toParts(url: string) {
  const { hostname, port, protocol, pathname } = new URL(url);
  const usual = protocol === 'https:' ? '443' : '80';
  const receiverId = /^\/v1\/receivers\/([^/]+)/.exec(pathname)?.[1] ?? '';
  return { host: hostname, port: port === '' ? usual : port, path: pathname, receiverId };
}
