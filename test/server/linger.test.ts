/** The connection of a request that was answered before its end. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, createServer, request as sendRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { test } from 'node:test';
import { lingerAfterAnswer } from '../../src/server/errors.ts';

test('keeps the connection of a request that ends during its response', async (t) => {
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    sockets.add(request.socket);
    response.writeHead(401).flushHeaders();
    lingerAfterAnswer(request, response, 0);
    request.once('end', () => setImmediate(() => response.end()));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => {
    agent.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  for (let count = 0; count < 20; count++) {
    const request = sendRequest({ port, host: '127.0.0.1', method: 'POST', agent });
    request.write('the first half, ');
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    request.end('and the second');
    response.resume();
    await once(response, 'end');
    // Longer than the first request would keep the connection.
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  assert.equal(sockets.size, 1);
});
