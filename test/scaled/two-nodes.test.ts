/** Two real services on one PostgreSQL, from the first run through an outage. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { mintSecret } from '../../src/codec/token-secret.ts';
import { type Service, startService } from '../harness/service.ts';
import { until } from '../harness/until.ts';
import { postgresMissing, PostgresServer } from './postgres-server.ts';

describe('two nodes', { skip: postgresMissing() }, () => {
  let server: PostgresServer;
  let nodes: readonly Service[] = [];
  /** The node that filled the directory and has the secrets. */
  let first: Service;
  let second: Service;

  before(async () => {
    server = await PostgresServer.start();
    const env = { WEIR_DIRECTORY_URL: await server.newUrl() };
    const expectedErrors = [/directory does not answer/];
    const options = { env, expectedErrors };
    nodes = await Promise.all([startService(options), startService(options)]);
    [first, second] = nodes.toSorted((a) => (hasSecrets(a) ? -1 : 1)) as [Service, Service];
  });
  after(async () => {
    // A node that fails to stop must not leave the other running, which keeps the process alive.
    try {
      await Promise.all(nodes.map((node) => node.stop()));
    } finally {
      await server.close();
    }
  });

  /** Sends a log to a node with the first run's receiver. */
  const send = (node: Service, token = first.quickstart.receivers.http_json.token) => {
    const { receiverId } = first.quickstart.receivers.http_json;
    return node.http.send(`${node.quickstart.ingestUrl}/v1/receivers/${receiverId}/logs`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: '[{"message":"hello"}]',
    });
  };

  test('concurrent starts make one first run, whose tokens work on both', async () => {
    assert.deepEqual(nodes.filter(hasSecrets), [first]);
    for (const node of nodes) assert.equal((await send(node)).status, 202);
  });

  /** Requests a ticket from a node. */
  const ask = (node: Service) => {
    const { accountId, accessToken } = first.quickstart;
    return node.http.send(`${node.quickstart.streamUrl}/api/v1/logs/export`, {
      method: 'POST',
      headers: { authorization: `Bearer ${accessToken}`, 'x-active-account': accountId },
    });
  };

  test('an export ticket works on either node, once', async () => {
    for (const [giver, taker] of [nodes, nodes.toReversed()] as [Service, Service][]) {
      const asked = await ask(giver);
      assert.equal(asked.status, 200, asked.text);
      const fetchAt = (node: Service) =>
        node.http.send(`${node.quickstart.streamUrl}${asked.json<{ url: string }>().url}`);
      const answers = await Promise.all([taker, giver, taker, giver].map(fetchAt));
      const statuses = answers.map(({ status }) => status);
      assert.deepEqual(
        statuses.toSorted((a, b) => a - b),
        [200, 404, 404, 404],
      );
      assert.equal((await fetchAt(taker)).status, 404);
    }
  });

  test('without PostgreSQL cached tokens work on both, others wait, and all recovers', async () => {
    const unknown = mintSecret('ingest');
    for (const node of nodes) assert.equal((await send(node)).status, 202);
    const isConnected = (node: Service) => node.metric('weir_directory_connected');
    for (const node of nodes) assert.equal(await isConnected(node), 1);
    await server.stop();
    for (const node of nodes) {
      await until(async () => (await isConnected(node)) === 0, {
        what: 'the outage to be reported',
      });
      assert.equal((await send(node)).status, 202);
      const refused = await send(node, unknown);
      assert.equal(refused.status, 503, refused.text);
      assert.equal(refused.headers['retry-after'], '1');
      assert.equal((await ask(node)).status, 503);
    }
    await server.start();
    for (const node of nodes) {
      await until(async () => (await send(node, unknown)).status === 401, {
        what: 'another look-up',
      });
      await until(async () => (await isConnected(node)) === 1, { what: 'changes to be received' });
    }
  });

  test('a token revoked on one node is refused on the other', async () => {
    const { receiverId } = first.quickstart.receivers.http_json;
    const created = await first.admin('POST', '/tokens', { type: 'ingest', name: 't', receiverId });
    assert.equal(created.status, 201, created.text);
    const { token, tokenId } = created.json<{ tokenId: string; token: string }>();
    assert.equal((await send(second, token)).status, 202);
    const revoked = await first.admin('POST', `/tokens/${tokenId}/revoke`);
    assert.equal(revoked.status, 200, revoked.text);
    await until(async () => (await send(second, token)).status === 401, {
      what: 'the other node to refuse the token',
    });
  });
});

function hasSecrets({ quickstart }: Service): boolean {
  // Only one of them has made the first run.
  return (quickstart as Partial<typeof quickstart>).receivers !== undefined;
}
