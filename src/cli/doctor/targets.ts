/** What `weir doctor` checks. Unlike other commands, it continues without missing values. */
import { readFileSync } from 'node:fs';
import { messageOf } from '../../std/error-text.ts';
import {
  type ConnectionFlags,
  dataDirectory,
  type Quickstart,
  quickstartFile,
  readQuickstart,
  type TargetFlags,
} from '../connection.ts';
import type { Environment } from '../terminal.ts';

export interface DoctorFlags extends ConnectionFlags, TargetFlags {
  readonly opsUrl?: string;
  readonly json?: true;
}

export interface Targets {
  readonly dataDir: string;
  /** Why quickstart.json cannot be used; undefined where it can, or does not exist. */
  readonly quickstartFault: string | undefined;
  readonly isLocal: boolean;
  /** Of `ingest` and `stream`, those that other nodes serve at unknown addresses. */
  readonly elsewhere: ReadonlySet<string>;
  readonly ingestUrl: URL | undefined;
  readonly streamUrl: URL | undefined;
  readonly opsUrl: URL | undefined;
  readonly receiverUrl: URL | undefined;
  readonly ingestToken: string | undefined;
  readonly accessToken: string | undefined;
  readonly accountId: string | undefined;
  readonly ca: string | undefined;
  readonly caFault: string | undefined;
}

export function findTargets(flags: DoctorFlags, environment: Environment): Targets {
  const { value: quickstart = {}, fault } = attempt(() =>
    readQuickstart(quickstartFile(flags.data, environment)),
  );
  const local = quickstart.receivers?.http_json;
  const ownReceiver = flags.receiverUrl ?? environment['WEIR_RECEIVER_URL'];
  const ownToken = flags.token ?? environment['WEIR_TOKEN'];
  const ownUrl = flags.url ?? environment['WEIR_URL'];
  const elsewhere = new Set(quickstart.elsewhere);
  if (ownReceiver !== undefined) elsewhere.delete('ingest');
  if (ownUrl !== undefined) elsewhere.delete('stream');
  const here = <T>(port: string, value: T) => (elsewhere.has(port) ? undefined : value);
  const receiverUrl = parseUrl(ownReceiver ?? here('ingest', local?.url));
  const ownAccount = flags.account ?? environment['WEIR_ACCOUNT'];
  const caFile = flags.caFile ?? environment['WEIR_CA_FILE'] ?? quickstart.caFile;
  const ca = attempt(() => (caFile === undefined ? undefined : readFileSync(caFile, 'utf8')));
  return {
    dataDir: dataDirectory(flags.data, environment),
    quickstartFault: fault,
    isLocal: Object.keys(quickstart).length > 0,
    elsewhere,
    ingestUrl: ingestUrlOf(receiverUrl, ownReceiver, here('ingest', quickstart)),
    streamUrl: parseUrl(ownUrl ?? here('stream', quickstart.streamUrl)),
    opsUrl: parseUrl(flags.opsUrl ?? environment['WEIR_OPS_URL'] ?? quickstart.opsUrl),
    receiverUrl,
    ingestToken:
      flags.ingestToken ??
      environment['WEIR_INGEST_TOKEN'] ??
      (ownReceiver === undefined ? local?.token : undefined),
    accessToken: ownToken ?? quickstart.accessToken,
    accountId: ownAccount ?? (ownToken === undefined ? quickstart.accountId : undefined),
    ca: ca.value,
    caFault: ca.fault,
  };
}

/** A gateway knows its port even without a receiver. */
function ingestUrlOf(
  receiverUrl: URL | undefined,
  ownReceiver: string | undefined,
  quickstart: Quickstart | undefined,
): URL | undefined {
  if (receiverUrl !== undefined) return new URL(receiverUrl.origin);
  return ownReceiver === undefined ? parseUrl(quickstart?.ingestUrl) : undefined;
}

function attempt<T>(read: () => T): { readonly value?: T; readonly fault: string | undefined } {
  try {
    return { value: read(), fault: undefined };
  } catch (error) {
    return { fault: messageOf(error) };
  }
}

function parseUrl(text: string | undefined): URL | undefined {
  const url = text === undefined ? null : URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) ? url : undefined;
}
