/** An additional account with a stream, a receiver and tokens. */
import assert from 'node:assert/strict';
import type { Account, Receiver, Stream } from '../../src/model/account.ts';
import type { IssuedToken } from './control.ts';
import type { Answer } from './http.ts';
import { type Parameters, type Service, toQuery } from './service.ts';

export interface Tenant {
  readonly accountId: string;
  /** Headers of requests on the stream port. */
  readonly headers: Readonly<Record<string, string>>;
  postLogs(events: unknown): Promise<Answer>;
  /** GET on the stream port. @param path such as `/logs` */
  read(path: string, parameters?: Parameters): Promise<Answer>;
}

export async function openTenant(service: Service, name: string): Promise<Tenant> {
  const { accessToken, ingestUrl, streamUrl } = service.quickstart;
  const create = async <T>(path: string, body: object, accountId?: string): Promise<T> => {
    const answer = await service.http.send(`${streamUrl}/api/v1/admin${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${accessToken}`,
        'content-type': 'application/json',
        ...(accountId !== undefined && { 'x-active-account': accountId }),
      },
      body: JSON.stringify({ name, ...body }),
    });
    assert.equal(answer.status, 201, answer.text);
    return answer.json<T>();
  };
  const { accountId } = await create<Account>('/accounts', {});
  const { streamId } = await create<Stream>('/streams', {}, accountId);
  const source = { kind: 'http_json', streamId };
  const { receiverId } = await create<Receiver>('/receivers', source, accountId);
  const sending = { type: 'ingest', receiverId };
  const sender = await create<IssuedToken>('/tokens', sending, accountId);
  const reading = { type: 'access', scopes: ['logs:read', 'analytics:read', 'metrics:read'] };
  const reader = await create<IssuedToken>('/tokens', reading, accountId);
  const headers = { authorization: `Bearer ${reader.token}`, 'x-active-account': accountId };
  return {
    accountId,
    headers,
    postLogs: (events) =>
      service.http.send(`${ingestUrl}/v1/receivers/${receiverId}/logs`, {
        method: 'POST',
        headers: { authorization: `Bearer ${sender.token}`, 'content-type': 'application/json' },
        body: JSON.stringify(events),
      }),
    read: (path, parameters = {}) =>
      service.http.send(`${streamUrl}/api/v1${path}?${toQuery(parameters)}`, { headers }),
  };
}
