/** What `weir doctor` checks. Unlike other commands, it continues without missing values. */
import { readFileSync } from 'node:fs';
import { messageOf } from '../../std/error-text.ts';
import {
  type ConnectionFlags,
  dataDirectory,
  findSettings,
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
  const given = findSettings(flags, environment, {});
  const elsewhere = new Set(quickstart.elsewhere);
  if (given.receiverUrl !== undefined) elsewhere.delete('ingest');
  if (given.streamUrl !== undefined) elsewhere.delete('stream');
  const { receiverUrl, streamUrl, caFile, ...known } = findSettings(flags, environment, quickstart);
  const here = (port: string, url: string | undefined) =>
    parseUrl(elsewhere.has(port) ? undefined : url);
  // A gateway knows its port even without a receiver.
  const ingestUrl =
    receiverUrl === undefined ? quickstart.ingestUrl : URL.parse(receiverUrl)?.origin;
  const ca = attempt(() => (caFile === undefined ? undefined : readFileSync(caFile, 'utf8')));
  return {
    ...known,
    dataDir: dataDirectory(flags.data, environment),
    quickstartFault: fault,
    isLocal: Object.keys(quickstart).length > 0,
    elsewhere,
    ingestUrl: here('ingest', ingestUrl),
    streamUrl: here('stream', streamUrl),
    opsUrl: parseUrl(flags.opsUrl ?? environment['WEIR_OPS_URL'] ?? quickstart.opsUrl),
    receiverUrl: here('ingest', receiverUrl),
    ca: ca.value,
    caFault: ca.fault,
  };
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
