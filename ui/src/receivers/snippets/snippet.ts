/** Configurations of senders as plain text, ready to be pasted: what they are made of. Pure. */

/** Where to send, and as whom. */
export interface Destination {
  /** Exactly as issued; nothing is appended to it. */
  readonly url: string;
  /** The secret, or `tokenPlaceholder`. */
  readonly token: string;
  /** The authority that Weir made for itself; undefined where everyone trusts its certificate. */
  readonly caFile: string | undefined;
}

export interface Snippet {
  /** What sends. */
  readonly title: string;
  readonly blocks: readonly SnippetBlock[];
  /** What to know before it is run. */
  readonly note?: string;
}

export interface SnippetBlock {
  /** The file it belongs to, or where it is run. */
  readonly caption: string;
  readonly language: 'sh' | 'yaml' | 'js' | 'python' | 'text';
  readonly text: string;
}

export const tokenPlaceholder = '<RECEIVER_TOKEN>';

/** A file that `npm start` makes; the address tells that Weir runs on this machine. */
export function toCaFile(url: string): string | undefined {
  const { hostname } = new URL(url);
  const isLocal = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
  return isLocal ? './data/tls/ca.pem' : undefined;
}

/** Lines, each ended; undefined ones are left out. */
export function toText(lines: readonly (string | undefined)[]): string {
  return lines
    .filter((line) => line !== undefined)
    .map((line) => `${line}\n`)
    .join('');
}

/** One word of a shell, whatever is in it. */
export function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Host, port and path as senders want them that do not take a URL. */
export function toParts(url: string): { host: string; port: string; path: string } {
  const { hostname, port, protocol, pathname } = new URL(url);
  const usual = protocol === 'https:' ? '443' : '80';
  return { host: hostname, port: port === '' ? usual : port, path: pathname };
}
