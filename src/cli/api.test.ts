/** Calls of the API: the wait for a response. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { createApi, ConnectionFailure } from './api.ts';

test('a service that does not respond is not said to be out of reach', async (context) => {
  const server = createServer(() => undefined).listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const connection = { url, token: 't', accountId: 'a', ca: undefined };
  const api = createApi(connection, new AbortController().signal, () => undefined);
  const call = { method: 'POST', path: ['slow'], body: {}, timeoutMs: 10 } as const;
  await assert.rejects(api.call(call), (error) => {
    assert.ok(error instanceof ConnectionFailure);
    assert.equal(
      error.message,
      `cannot wait for ${url.origin} any longer: no response within 0.01 s`,
    );
    return true;
  });
});
