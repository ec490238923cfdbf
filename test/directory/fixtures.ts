/** Resources for the contract of the directory. */
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import type { Directory, NewToken } from '../../src/directory/port.ts';
import type { Account, Receiver, Stream } from '../../src/model/account.ts';
import { AppError, type ErrorCode } from '../../src/model/errors.ts';
import { createId } from '../../src/std/random-id.ts';

/** The digest of a random secret. */
export function newDigest(): string {
  return randomBytes(32).toString('hex');
}

export interface Parts {
  readonly account: Account;
  readonly stream: Stream;
  readonly receiver: Receiver;
}

export async function createParts(directory: Directory): Promise<Parts> {
  const account = await directory.createAccount({ name: 'acme', eventsPerSecond: 1000 });
  const stream = await directory.createStream({
    accountId: account.accountId,
    name: 'main',
    retentionDays: 30,
  });
  const receiver = await directory.createReceiver({
    accountId: account.accountId,
    streamId: stream.streamId,
    name: 'web',
    kind: 'http_json',
    active: true,
    allowedCidrs: [],
    limits: { eventsPerSecond: 100, burstEvents: null, maxBodyBytes: 4096 },
    transform: [],
  });
  return { account, stream, receiver };
}

export function newToken(fields: Partial<NewToken>): NewToken {
  const type = fields.receiverId ? 'ingest' : 'access';
  return {
    type,
    name: 'sender',
    accountIds: [],
    allAccounts: false,
    receiverId: null,
    scopes: [type === 'ingest' ? 'ingest:write' : 'logs:read'],
    expiresAt: null,
    digest: newDigest(),
    ...fields,
  };
}

export function createSeed() {
  const receiverId = createId('rcv');
  const { accountIds: _, allAccounts: __, expiresAt: ___, ...token } = newToken({ receiverId });
  const seed = {
    account: { accountId: randomUUID(), name: 'default' },
    stream: { streamId: randomUUID(), name: 'default', retentionDays: 30 },
    receivers: [{ receiverId, name: 'json', kind: 'http_json' as const }],
    tokens: [token],
  };
  return { seed, digest: token.digest };
}

export async function rejectsWith(code: ErrorCode, work: Promise<unknown>): Promise<void> {
  await assert.rejects(work, (error) => error instanceof AppError && error.code === code);
}
