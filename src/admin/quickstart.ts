/**
 * `quickstart.json`: where this run answers, and the tokens of the first run, for people and
 * scripts on the same machine. The only place where secrets are kept; for its owner alone.
 */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { replaceTextFile } from '../files/whole-file.ts';
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

/** Where a run answers; URLs without a trailing slash. */
export interface Addresses {
  readonly ingestUrl: string;
  readonly streamUrl: string;
  readonly opsUrl: string;
  /** Certificate of the local authority; undefined where senders trust the certificate anyway. */
  readonly caFile: string | undefined;
  /** Ports that other nodes serve, at addresses that this one was not told. */
  readonly elsewhere?: readonly ('ingest' | 'stream')[];
}

type Access<Kind extends ReceiverKind> = z.infer<typeof receiverAccess> & ReceiverUrls[Kind];

/** The first run's access with the addresses of this one. */
interface KnownAccess extends Omit<FirstRun, 'receivers'> {
  readonly receivers: { readonly [Kind in ReceiverKind]: Access<Kind> };
}

/** The file's content; addresses alone where the secrets of the first run are no longer known. */
export type Quickstart = Addresses & (KnownAccess | { readonly receivers?: undefined });

/**
 * Secrets that the directory may not know yet. Kept apart from `quickstart.json`, which appears
 * only when the service is ready.
 */
function pendingFile(dataDir: string): string {
  return join(dataDir, 'first-run.json');
}

/**
 * Says where this run answers. Atomic: a reader sees the old file or the new one.
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
  rmSync(pendingFile(dataDir), { force: true });
  return quickstart;
}

/** The same of a process that senders and readers do not talk to; secrets kept earlier stay. */
export function writeEngineAddresses(
  dataDir: string,
  addresses: { readonly storeUrl: string; readonly opsUrl: string },
): void {
  const kept = readFirstRun(dataDir);
  replaceTextFile(join(dataDir, 'quickstart.json'), toJson({ ...addresses, ...kept }));
}

/** Keeps new secrets safe until `writeQuickstart`, so that a crash in between loses none. */
export function writePending(dataDir: string, firstRun: FirstRun): void {
  replaceTextFile(pendingFile(dataDir), toJson(firstRun));
}

export function dropPending(dataDir: string): void {
  rmSync(pendingFile(dataDir), { force: true });
}

/**
 * What an earlier start kept.
 * @returns undefined where no file holds secrets.
 * @throws Error where a file is there and cannot be read.
 */
export function readFirstRun(dataDir: string): FirstRun | undefined {
  return readFrom(pendingFile(dataDir)) ?? readFrom(join(dataDir, 'quickstart.json'));
}

function readFrom(file: string): FirstRun | undefined {
  try {
    return firstRunShape.safeParse(JSON.parse(readFileSync(file, 'utf8'))).data;
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return undefined;
    throw new Error(`cannot read ${file}; mend it, or move it away to start without its tokens`, {
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
