/**
 * Where the control API is and who asks: flags, else the environment, else the local
 * quickstart.json.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CommandError, exitCodes } from './terminal.ts';
import { hasErrorCode, messageOf } from '../std/error-text.ts';

export interface Connection {
  readonly url: URL;
  readonly token: string;
  /** Undefined where nobody has named one. */
  readonly accountId: string | undefined;
  /** PEM of an authority to trust instead of the usual ones. */
  readonly ca: string | undefined;
}

export interface ConnectionFlags {
  readonly url?: string;
  readonly token?: string;
  readonly account?: string;
  readonly caFile?: string;
  readonly data?: string;
}

/** What quickstart.json says, as far as commands use it; nothing where there is none. */
export interface Quickstart {
  readonly ingestUrl?: string;
  readonly streamUrl?: string;
  readonly opsUrl?: string;
  readonly accessToken?: string;
  readonly accountId?: string;
  readonly caFile?: string;
  /** Ports that other nodes serve, at addresses that this one was not told. */
  readonly elsewhere?: readonly string[];
  readonly receivers?: {
    readonly http_json?: { readonly url?: string; readonly token?: string };
  };
}

/** @throws CommandError where the address or the token is nowhere to be found */
export function resolveConnection(
  flags: ConnectionFlags,
  environment: Readonly<Record<string, string | undefined>>,
): Connection {
  const file = quickstartFile(flags.data, environment);
  const quickstart = readQuickstart(file);
  const url = flags.url ?? environment['WEIR_URL'] ?? quickstart.streamUrl;
  const ownToken = flags.token ?? environment['WEIR_TOKEN'];
  const token = ownToken ?? quickstart.accessToken;
  // Another token may not know the account of the first run.
  const localAccount = ownToken === undefined ? quickstart.accountId : undefined;
  const caFile = flags.caFile ?? environment['WEIR_CA_FILE'] ?? quickstart.caFile;
  return {
    url: toUrl(url ?? missing('address of the stream port', '--url, WEIR_URL', file)),
    token: token ?? missing('token', '--token, WEIR_TOKEN', file),
    accountId: flags.account ?? environment['WEIR_ACCOUNT'] ?? localAccount,
    ca: caFile === undefined ? undefined : readAuthority(caFile),
  };
}

/** The same folder that `weir serve` takes by default. */
export function dataDirectory(
  flag: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): string {
  return flag ?? environment['WEIR_DATA'] ?? './data';
}

export function quickstartFile(
  flag: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): string {
  return join(dataDirectory(flag, environment), 'quickstart.json');
}

/** @throws CommandError where a file is there that cannot be read */
export function readQuickstart(file: string): Quickstart {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return {};
    throw new CommandError(`cannot read ${file}: ${wordsOf(error)}`);
  }
  try {
    return JSON.parse(text) as Quickstart;
  } catch (error) {
    throw new CommandError(`cannot read ${file}: ${wordsOf(error)}`);
  }
}

/** @throws CommandError always */
export function missing(what: string, ways: string, file: string): never {
  throw new CommandError(
    `cannot find the ${what}: give ${ways}, or ${file} (--data)`,
    exitCodes.usage,
  );
}

/** @throws CommandError */
export function toUrl(text: string): URL {
  const url = URL.parse(text);
  if (url && (url.protocol === 'https:' || url.protocol === 'http:')) return url;
  throw new CommandError(`cannot use the address ${text}: give one with https://`, exitCodes.usage);
}

/** Of a certificate authority. @throws CommandError */
export function readAuthority(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new CommandError(`cannot read the authority ${file} (--ca-file): ${wordsOf(error)}`);
  }
}

function wordsOf(error: unknown): string {
  return messageOf(error);
}
