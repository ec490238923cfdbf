/**
 * One service for all test files of a process (`npm test` runs them in one). Each file gets an
 * account of its own, with a stream, receivers and tokens as of a first run.
 */
import assert from 'node:assert/strict';
import { type Account, accessScopes, type Receiver, type Stream } from '../../src/model/account.ts';
import type { IssuedToken } from './control.ts';
import type { Quickstart } from './quickstart.ts';
import type { ServiceNodes } from './service-nodes.ts';
import { Service, startService } from './service.ts';

let started: Promise<Service> | undefined;
let members = 0;

/**
 * Starts the service for the first file. Leave it with `stop`; the last file stops it and checks
 * its log. It must not be killed, and its metrics count the requests of all files.
 */
export async function joinService(): Promise<Service> {
  members++;
  started ??= startService();
  const first = await started;
  const joined = new Service(joinNodes(first), {});
  await joined.start();
  return joined;
}

function joinNodes(first: Service): ServiceNodes {
  let isMember = true;
  return {
    dataDir: first.dataDir,
    env: first.env,
    get process() {
      return first.process;
    },
    launched: () => [],
    enginePids: () => first.enginePids(),
    launch: () => assert.fail('a joined service is not restarted'),
    start: () => openAccount(first),
    async kill(signal) {
      assert.equal(signal, 'SIGTERM', 'a joined service is not killed');
      isMember = false;
      if (--members === 0) {
        started = undefined;
        await first.stop();
      }
      return { code: 0, signal: null };
    },
    isRunning: () => isMember,
    remove: async () => undefined,
  };
}

/** As the first run, whose access token may do everything. */
async function openAccount(service: Service): Promise<Quickstart> {
  const { quickstart } = service;
  const create = async <T>(path: string, body: object, accountId: string): Promise<T> => {
    const answer = await service.http.send(`${quickstart.streamUrl}/api/v1/admin${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${quickstart.accessToken}`,
        'content-type': 'application/json',
        'x-active-account': accountId,
      },
      body: JSON.stringify(body),
    });
    assert.equal(answer.status, 201, answer.text);
    return answer.json<T>();
  };
  const name = 'default';
  const { accountId } = await create<Account>('/accounts', { name }, quickstart.accountId);
  const { streamId } = await create<Stream>('/streams', { name }, accountId);
  const access = { type: 'access', name, accountIds: [accountId], scopes: accessScopes };
  const { token: accessToken } = await create<IssuedToken>('/tokens', access, accountId);
  const receiver = async (kind: Receiver['kind']) => {
    const receiving = { name: kind, kind, streamId };
    const { receiverId } = await create<Receiver>('/receivers', receiving, accountId);
    const sending = { type: 'ingest', name: kind, receiverId };
    const { token } = await create<IssuedToken>('/tokens', sending, accountId);
    return { receiverId, token };
  };
  /** Replaces id and token of a receiver, also in its addresses. */
  const replaced = async <Of extends { receiverId: string }>(kind: Receiver['kind'], of: Of) => {
    const own = await receiver(kind);
    const text = JSON.stringify(of).replaceAll(of.receiverId, own.receiverId);
    return { ...(JSON.parse(text) as Of), token: own.token };
  };
  const { http_json, otlp, prometheus } = quickstart.receivers;
  return {
    ...quickstart,
    accountId,
    streamId,
    accessToken,
    receivers: {
      http_json: await replaced('http_json', http_json),
      otlp: await replaced('otlp', otlp),
      prometheus: await replaced('prometheus', prometheus),
    },
  };
}
