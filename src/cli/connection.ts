/** Addresses and credentials: flags, else the environment, else quickstart.json. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasErrorCode, messageOf } from '../std/error-text.ts';
import { CommandError, type Environment, exitCodes } from './terminal.ts';

/** How to reach the stream port. */
export interface Connection {
  readonly url: URL;
  readonly token: string;
  readonly accountId: string | undefined;
  /** PEM of an authority to trust instead of the system's. */
  readonly ca: string | undefined;
}

/** How to reach a receiver of kind http_json; its URL is used as it was issued. */
export type Target = Omit<Connection, 'accountId'>;

export interface ConnectionFlags {
  readonly url?: string;
  readonly token?: string;
  readonly account?: string;
  readonly caFile?: string;
  readonly data?: string;
}

export interface TargetFlags {
  readonly receiverUrl?: string;
  readonly ingestToken?: string;
  readonly caFile?: string;
  readonly data?: string;
}

/** The part of quickstart.json that commands use. */
export interface Quickstart {
  readonly ingestUrl?: string;
  readonly streamUrl?: string;
  readonly opsUrl?: string;
  readonly accessToken?: string;
  readonly accountId?: string;
  readonly caFile?: string;
  /** Ports that other nodes serve at addresses unknown to this one: `ingest`, `stream`. */
  readonly elsewhere?: readonly string[];
  readonly receivers?: {
    readonly http_json?: { readonly url?: string; readonly token?: string };
  };
}

/** What flags, the environment and quickstart.json say, in this order; undefined is unknown. */
export function findSettings(
  flags: ConnectionFlags & TargetFlags,
  environment: Environment,
  quickstart: Quickstart,
) {
  const local = quickstart.receivers?.http_json;
  const ownToken = flags.token ?? environment['WEIR_TOKEN'];
  // The account in the file belongs to the token in the file.
  const localAccount = ownToken === undefined ? quickstart.accountId : undefined;
  const ownReceiver = flags.receiverUrl ?? environment['WEIR_RECEIVER_URL'];
  // The token in the file belongs to the receiver in the file.
  const localToken = ownReceiver === undefined ? local?.token : undefined;
  return {
    streamUrl: flags.url ?? environment['WEIR_URL'] ?? quickstart.streamUrl,
    accessToken: ownToken ?? quickstart.accessToken,
    accountId: flags.account ?? environment['WEIR_ACCOUNT'] ?? localAccount,
    receiverUrl: ownReceiver ?? local?.url,
    ingestToken: flags.ingestToken ?? environment['WEIR_INGEST_TOKEN'] ?? localToken,
    caFile: flags.caFile ?? environment['WEIR_CA_FILE'] ?? quickstart.caFile,
  };
}

/** @throws CommandError where the address or the token is missing */
export function resolveConnection(flags: ConnectionFlags, environment: Environment): Connection {
  const file = quickstartFile(flags.data, environment);
  const found = findSettings(flags, environment, readQuickstart(file));
  return {
    url: resolveStreamUrl(found.streamUrl, file),
    token: found.accessToken ?? missing('token', '--token, WEIR_TOKEN', file),
    accountId: found.accountId,
    ca: readAuthority(found.caFile),
  };
}

/** @throws CommandError where the address or the token is missing */
export function resolveTarget(flags: TargetFlags, environment: Environment): Target {
  const file = quickstartFile(flags.data, environment);
  const found = findSettings(flags, environment, readQuickstart(file));
  const url =
    found.receiverUrl ?? missing('receiver URL', '--receiver-url, WEIR_RECEIVER_URL', file);
  return {
    url: toUrl(url),
    token: found.ingestToken ?? missing('ingest token', '--ingest-token, WEIR_INGEST_TOKEN', file),
    ca: readAuthority(found.caFile),
  };
}

/** @throws CommandError where there is none */
export function resolveStreamUrl(url: string | undefined, file: string): URL {
  return toUrl(url ?? missing('address of the stream port', '--url, WEIR_URL', file));
}

/** The default is that of `weir serve`. */
export function dataDirectory(flag: string | undefined, environment: Environment): string {
  return flag ?? environment['WEIR_DATA'] ?? './data';
}

export function quickstartFile(flag: string | undefined, environment: Environment): string {
  return join(dataDirectory(flag, environment), 'quickstart.json');
}

/** @returns {} without a file. @throws CommandError where it cannot be read */
export function readQuickstart(file: string): Quickstart {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Quickstart;
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return {};
    throw new CommandError(`cannot read ${file}: ${messageOf(error)}`);
  }
}

function missing(what: string, sources: string, file: string): never {
  throw new CommandError(
    `cannot find the ${what}: give ${sources}, or ${file} (--data)`,
    exitCodes.usage,
  );
}

function toUrl(text: string): URL {
  const url = URL.parse(text);
  if (url && (url.protocol === 'https:' || url.protocol === 'http:')) return url;
  throw new CommandError(`cannot use the address ${text}: give one with https://`, exitCodes.usage);
}

function readAuthority(file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  let authority: string;
  try {
    authority = readFileSync(file, 'utf8');
  } catch (error) {
    throw new CommandError(`cannot read the authority ${file} (--ca-file): ${messageOf(error)}`);
  }
  if (authority.includes('-----BEGIN ')) return authority;
  throw new CommandError(`cannot use the authority ${file} (--ca-file): it has no PEM certificate`);
}
