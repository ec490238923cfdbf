/**
 * Fills an empty directory with an account, a stream, a receiver of each kind and tokens. The next
 * start completes a first run that a crash interrupted.
 */
import { randomUUID } from 'node:crypto';
import type { Directory, DirectorySeed, GrantSource } from '../directory/port.ts';
import { accessScopes, receiverKinds } from '../model/account.ts';
import { AppError } from '../model/errors.ts';
import { createId } from '../std/random-id.ts';
import { digestSecret, mintSecret } from '../codec/token-secret.ts';
import type { Sessions } from './sessions.ts';
import { dropPending, type FirstRun, readFirstRun, writePending } from './quickstart.ts';

const receiverNames = { http_json: 'json', otlp: 'otlp', prometheus: 'prometheus' } as const;

/**
 * Secrets are written to disk before the directory stores their digests, so that no token exists
 * without a readable secret.
 * @returns what the first run created, now or earlier; undefined when its secrets are not stored.
 * @throws Error when a file of the first run cannot be read, AppError `unavailable`
 */
export async function prepareFirstRun(
  directory: Directory & Pick<GrantSource, 'findToken'>,
  dataDir: string,
): Promise<FirstRun | undefined> {
  const kept = readFirstRun(dataDir);
  if (kept) {
    // Completes an interrupted first run; no effect on a directory that is not empty.
    if (await directory.seed(toSeed(kept))) return kept;
    if (await isKnown(directory, kept)) return kept;
    // Interrupted, and another node has filled the directory since.
    dropPending(dataDir);
    return undefined;
  }
  const accounts = await directory.listAccounts();
  if (accounts.length > 0) return undefined;
  const firstRun = createFirstRun();
  writePending(dataDir, firstRun);
  if (await directory.seed(toSeed(firstRun))) return firstRun;
  dropPending(dataDir);
  return undefined;
}

/** Checks every part, since some may have been deleted. */
async function isKnown(
  directory: Directory & Pick<GrantSource, 'findToken'>,
  { accountId, accessToken, receivers }: FirstRun,
): Promise<boolean> {
  if (await directory.getAccount(accountId)) return true;
  const secrets = [accessToken, ...receiverKinds.map((kind) => receivers[kind].token)];
  for (const secret of secrets) {
    if (await directory.findToken(digestSecret(secret))) return true;
  }
  return false;
}

function createFirstRun(): FirstRun {
  const newReceiver = () => ({ receiverId: createId('rcv'), token: mintSecret('ingest') });
  return {
    accountId: randomUUID(),
    streamId: randomUUID(),
    accessToken: mintSecret('access'),
    receivers: { http_json: newReceiver(), otlp: newReceiver(), prometheus: newReceiver() },
  };
}

function toSeed(firstRun: FirstRun): DirectorySeed {
  const { receivers } = firstRun;
  return {
    account: { accountId: firstRun.accountId, name: 'default' },
    stream: { streamId: firstRun.streamId, name: 'default', retentionDays: 30 },
    receivers: receiverKinds.map((kind) => ({
      receiverId: receivers[kind].receiverId,
      name: receiverNames[kind],
      kind,
    })),
    tokens: [
      ...receiverKinds.map((kind) => ({
        type: 'ingest' as const,
        name: `first run, ${receiverNames[kind]}`,
        receiverId: receivers[kind].receiverId,
        scopes: ['ingest:write' as const],
        digest: digestSecret(receivers[kind].token),
      })),
      {
        type: 'access',
        name: 'first run',
        receiverId: null,
        scopes: accessScopes,
        digest: digestSecret(firstRun.accessToken),
      },
    ],
  };
}

/** @returns undefined when the directory cannot store a link. */
export async function createFirstLink(
  sessions: Sessions,
  { accessToken }: FirstRun,
): Promise<{ readonly code: string } | undefined> {
  try {
    return await sessions.createLink(digestSecret(accessToken));
  } catch (error) {
    // A full disk must not prevent a start.
    if (error instanceof AppError && error.code === 'unavailable') return undefined;
    throw error;
  }
}
