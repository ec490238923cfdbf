/**
 * Fills an empty directory with what a newcomer needs: an account, a stream, one receiver of each
 * kind, and tokens for all of it. A crash at any step is made good by the next start.
 */
import { randomUUID } from 'node:crypto';
import type { Directory, DirectorySeed, GrantSource } from '../directory/port.ts';
import { accessScopes, receiverKinds } from '../model/account.ts';
import { createId } from '../std/random-id.ts';
import { digestSecret, mintSecret } from '../codec/token-secret.ts';
import { dropPending, type FirstRun, readFirstRun, writePending } from './quickstart.ts';

const receiverNames = { http_json: 'json', otlp: 'otlp', prometheus: 'prometheus' } as const;

/**
 * Secrets are written to disk before the directory learns their digests, and both can be repeated:
 * whatever the directory knows, somebody can read.
 * @returns what the first run created, now or earlier; undefined where its secrets are not kept.
 * @throws Error where a file of the first run cannot be read, AppError `unavailable`
 */
export async function prepareFirstRun(
  directory: Directory & Pick<GrantSource, 'findToken'>,
  dataDir: string,
): Promise<FirstRun | undefined> {
  const kept = readFirstRun(dataDir);
  if (kept) {
    // Completes a first run that was cut short; does nothing to a directory that holds anything.
    if (await directory.seed(toSeed(kept))) return kept;
    if (await isKnown(directory, kept)) return kept;
    // Cut short, and meanwhile another node filled the directory.
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

/** Some of it may have been deleted since. */
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
