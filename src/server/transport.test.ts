/** Bodies of HTTP/1.1 that have arrived with their heads. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { after, before, suite, test } from 'node:test';
import { toRequestBody } from './transport.ts';

suite('a body that has arrived', () => {
  const server = createServer();
  before(() => once(server.listen(0, '127.0.0.1'), 'listening'));
  after(() => server.close());

  /** The body of a request, sent with its head at once, in chunks; read a turn later. */
  async function arrived(chunks: readonly string[], end = '0\r\n\r\n'): Promise<string | null> {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    const sizes = chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`);
    const head = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n';
    socket.write(head + sizes.join('') + end);
    const [request, response] = (await once(server, 'request')) as [
      IncomingMessage,
      ServerResponse,
    ];
    await new Promise(setImmediate);
    const body = toRequestBody(request, response).takeArrived?.() ?? null;
    socket.destroy();
    return body === null ? null : body.toString();
  }

  test('is taken at once, in however many chunks', async () => {
    assert.equal(await arrived(['query=up']), 'query=up');
    assert.equal(await arrived(['query', '=', 'up']), 'query=up');
    assert.equal(await arrived([]), '');
  });

  test('is not taken before its end, nor if it is large', async () => {
    assert.equal(await arrived(['query=up'], ''), null);
    assert.equal(await arrived(['x'.repeat(20_000)]), null);
  });
});
