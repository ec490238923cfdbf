/**
 * What there is to look at: addresses, tokens and the authority, from flags, the environment and
 * quickstart.json. Unlike other commands it goes on without those that are missing.
 */
import { readFileSync } from 'node:fs';
import {
  type ConnectionFlags,
  dataDirectory,
  type Quickstart,
  quickstartFile,
  readQuickstart,
} from '../connection.ts';
import type { TargetFlags } from '../connection.ts';
import { messageOf } from '../../std/error-text.ts';

export interface DoctorFlags extends ConnectionFlags, TargetFlags {
  readonly opsUrl?: string;
  readonly json?: true;
}

export interface Places {
  readonly dataDir: string;
  /** Why quickstart.json cannot be used; undefined where it can, or is not there. */
  readonly quickstartFault: string | undefined;
  readonly isLocal: boolean;
  /** `ingest` and `stream`: ports that other nodes serve, at addresses that nobody has given. */
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

type Environment = Readonly<Record<string, string | undefined>>;

export function findPlaces(flags: DoctorFlags, environment: Environment): Places {
  const { quickstart, fault } = tryQuickstart(quickstartFile(flags.data, environment));
  const local = quickstart?.receivers?.http_json;
  const ownReceiver = flags.receiverUrl ?? environment['WEIR_RECEIVER_URL'];
  const ownToken = flags.token ?? environment['WEIR_TOKEN'];
  const ownAccount = flags.account ?? environment['WEIR_ACCOUNT'];
  const ownUrl = flags.url ?? environment['WEIR_URL'];
  const elsewhere = new Set(quickstart?.elsewhere);
  if (ownReceiver !== undefined) elsewhere.delete('ingest');
  if (ownUrl !== undefined) elsewhere.delete('stream');
  const localReceiver = elsewhere.has('ingest') ? undefined : local?.url;
  const localStream = elsewhere.has('stream') ? undefined : quickstart?.streamUrl;
  const receiverUrl = parseUrl(ownReceiver ?? localReceiver);
  // A gateway knows its port, and perhaps no receiver.
  const isIngestHere = ownReceiver === undefined && !elsewhere.has('ingest');
  const ownIngest = isIngestHere ? parseUrl(quickstart?.ingestUrl) : undefined;
  const localIngestToken = ownReceiver === undefined ? local?.token : undefined;
  const caFile = flags.caFile ?? environment['WEIR_CA_FILE'] ?? quickstart?.caFile;
  return {
    dataDir: dataDirectory(flags.data, environment),
    quickstartFault: fault,
    isLocal: quickstart !== undefined,
    elsewhere,
    ingestUrl: receiverUrl === undefined ? ownIngest : new URL(receiverUrl.origin),
    streamUrl: parseUrl(ownUrl ?? localStream),
    opsUrl: parseUrl(flags.opsUrl ?? environment['WEIR_OPS_URL'] ?? quickstart?.opsUrl),
    receiverUrl,
    ingestToken: flags.ingestToken ?? environment['WEIR_INGEST_TOKEN'] ?? localIngestToken,
    accessToken: ownToken ?? quickstart?.accessToken,
    accountId: ownAccount ?? (ownToken === undefined ? quickstart?.accountId : undefined),
    ...readCa(caFile),
  };
}

/** Nothing at all where the file is not there. */
function tryQuickstart(file: string): { quickstart?: Quickstart; fault: string | undefined } {
  try {
    const quickstart = readQuickstart(file);
    const isThere = Object.keys(quickstart).length > 0;
    return isThere ? { quickstart, fault: undefined } : { fault: undefined };
  } catch (error) {
    return { fault: messageOf(error) };
  }
}

function parseUrl(text: string | undefined): URL | undefined {
  const url = text === undefined ? null : URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) ? url : undefined;
}

function readCa(file: string | undefined): Pick<Places, 'ca' | 'caFault'> {
  if (file === undefined) return { ca: undefined, caFault: undefined };
  try {
    return { ca: readFileSync(file, 'utf8'), caFault: undefined };
  } catch (error) {
    return { ca: undefined, caFault: messageOf(error) };
  }
}
