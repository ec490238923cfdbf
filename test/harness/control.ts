/** Helpers for the control API. */
import assert from 'node:assert/strict';
import type { Receiver, Scope, Stream, Token } from '../../src/model/account.ts';
import type { Service } from './service.ts';

/** A token with its secret. */
export type IssuedToken = Token & { readonly token: string };

export function createReceiver(
  service: Service,
  receiver: Partial<Receiver> = {},
): Promise<Receiver> {
  const { streamId } = service.quickstart;
  return created(service, '/receivers', {
    streamId,
    name: 'test receiver',
    kind: 'http_json',
    ...receiver,
  });
}

export function createStream(service: Service, stream: Partial<Stream> = {}): Promise<Stream> {
  return created(service, '/streams', { name: 'test stream', ...stream });
}

export function createIngestToken(
  service: Service,
  receiverId: string,
  scopes: readonly Scope[] = ['ingest:write'],
): Promise<IssuedToken> {
  return created(service, '/tokens', { type: 'ingest', name: 'test token', receiverId, scopes });
}

export function createAccessToken(
  service: Service,
  scopes: readonly Scope[],
  accountIds: readonly string[] = [service.quickstart.accountId],
): Promise<IssuedToken> {
  return created(service, '/tokens', { type: 'access', name: 'test token', accountIds, scopes });
}

/** Adds or replaces rule groups of the first stream. @param rules a rule file */
export async function applyRules(service: Service, rules: string): Promise<void> {
  const { streamId } = service.quickstart;
  const answer = await service.admin('PUT', `/streams/${streamId}/rule-groups`, { rules });
  assert.equal(answer.status, 200, answer.text);
}

async function created<T>(service: Service, path: string, body: unknown): Promise<T> {
  const answer = await service.admin('POST', path, body);
  assert.equal(answer.status, 201, answer.text);
  return answer.json<T>();
}
