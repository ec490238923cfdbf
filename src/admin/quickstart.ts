/**
 * `quickstart.json`: the addresses of this run and the tokens of the first run, for people and
 * scripts on the same machine. The only file with secrets; only its owner can read it.
 */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { replaceTextFile } from '../files/atomic-file.ts';
import type { ReceiverKind } from '../model/account.ts';
import { type ReceiverUrls, toReceiverUrls } from '../model/receiver-urls.ts';
import { hasErrorCode } from '../std/error-text.ts';

const receiverAccess = z.object({ receiverId: z.string(), token: z.string() });
const firstRunShape = z.object({
  accountId: z.string(),
  streamId: z.string(),
  accessToken: z.string(),
  receivers: z.object({
    http_json: receiverAccess,
    otlp: receiverAccess,
    prometheus: receiverAccess,
  }),
});

/** What the first run created, with the secrets of its tokens. */
export type FirstRun = z.infer<typeof firstRunShape>;

/** The addresses of a run; URLs without a trailing slash. */
export interface Addresses {
  readonly ingestUrl: string;
  readonly streamUrl: string;
  readonly opsUrl: string;
  /** Certificate of the local authority; undefined when senders trust the certificate already. */
  readonly caFile: string | undefined;
  /** Ports of listeners without HTTP, by the name of their setting: `syslog.tcp`. */
  readonly sockets?: Readonly<Record<string, number>> | undefined;
  /** Ports that other nodes serve, at addresses unknown to this one. */
  readonly elsewhere?: readonly ('ingest' | 'stream')[];
}

type Access<Kind extends ReceiverKind> = z.infer<typeof receiverAccess> & ReceiverUrls[Kind];

/** The receivers and tokens of the first run, with the addresses of this run. */
interface KnownAccess extends Omit<FirstRun, 'receivers'> {
  readonly receivers: { readonly [Kind in ReceiverKind]: Access<Kind> };
}

/** Content of the file; without tokens when the secrets of the first run are not stored. */
export type Quickstart = Addresses & (KnownAccess | { readonly receivers?: undefined });

/** Secrets before the service is ready; `quickstart.json` is written only then. */
function pendingFile(dataDir: string): string {
  return join(dataDir, 'first-run.json');
}

/**
 * Writes the addresses of this run, atomically.
 * @returns what was written.
 */
export function writeQuickstart(
  dataDir: string,
  firstRun: FirstRun | undefined,
  addresses: Addresses,
): Quickstart {
  const quickstart = firstRun
    ? { ...addresses, ...withUrls(firstRun, addresses.ingestUrl) }
    : addresses;
  replaceTextFile(join(dataDir, 'quickstart.json'), toJson(quickstart));
  dropPending(dataDir);
  return quickstart;
}

/** Writes the addresses of an engine-only process; keeps stored secrets. */
export function writeEngineAddresses(
  dataDir: string,
  addresses: { readonly storeUrl: string; readonly opsUrl: string },
): void {
  const kept = readFirstRun(dataDir);
  replaceTextFile(join(dataDir, 'quickstart.json'), toJson({ ...addresses, ...kept }));
}

/** Stores new secrets until `writeQuickstart`, so that a crash in between loses none. */
export function writePending(dataDir: string, firstRun: FirstRun): void {
  replaceTextFile(pendingFile(dataDir), toJson(firstRun));
}

export function dropPending(dataDir: string): void {
  rmSync(pendingFile(dataDir), { force: true });
}

/**
 * Reads the secrets of the first run.
 * @returns undefined when no file contains any.
 * @throws Error when a file exists and cannot be read.
 */
export function readFirstRun(dataDir: string): FirstRun | undefined {
  return readFrom(pendingFile(dataDir)) ?? readFrom(join(dataDir, 'quickstart.json'));
}

function readFrom(file: string): FirstRun | undefined {
  try {
    return firstRunShape.safeParse(JSON.parse(readFileSync(file, 'utf8'))).data;
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return undefined;
    throw new Error(`cannot read ${file}: repair it, or move it away to start without its tokens`, {
      cause: error,
    });
  }
}

function withUrls({ receivers, ...rest }: FirstRun, ingestUrl: string): KnownAccess {
  const access = <Kind extends ReceiverKind>(kind: Kind): Access<Kind> => {
    const { receiverId, token } = receivers[kind];
    return { receiverId, token, ...toReceiverUrls({ kind, receiverId }, ingestUrl) };
  };
  return {
    ...rest,
    receivers: {
      http_json: access('http_json'),
      otlp: access('otlp'),
      prometheus: access('prometheus'),
    },
  };
}

function toJson(content: object): string {
  return `${JSON.stringify(content, null, 2)}\n`;
}
