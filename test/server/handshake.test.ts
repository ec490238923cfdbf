/** TLS handshakes that exceed their timeout. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect as connectPlain, createServer } from 'node:net';
import { after, before, test } from 'node:test';
import { connect } from 'node:tls';
import { preface } from '../floods/frames.ts';
import { sendHttp1 } from './client.ts';
import { type Edge, openEdge } from './edge.ts';

const headersTimeoutMs = 200;

let edge: Edge;
before(async () => {
  edge = await openEdge({ limits: { headersTimeoutMs } });
});
after(() => edge.close());

for (const surface of ['ingest', 'stream'] as const) {
  test(`closes a TLS handshake that exceeds its timeout on the ${surface} port`, async () => {
    assert.equal(await finishLate(edge.ports[surface]), '');
    // A response written before the end of the handshake used to abort the process.
    const target = { port: edge.ports[surface], ca: edge.ca };
    const asked = { method: 'GET', path: '/healthz', headers: [], body: '' };
    const { status } = await sendHttp1(target, asked);
    assert.equal(status, 200);
  });
}

for (const surface of ['ingest', 'stream'] as const) {
  test(`answers plain HTTP on the ${surface} port with the scheme to use`, async () => {
    const answer = await sendPlain(edge.ports[surface], 'GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    assert.match(answer, /^HTTP\/1\.1 400 Bad Request\r\n/);
    assert.match(answer, /this port speaks HTTPS; use https:\/\//);
    assert.equal(await sendPlain(edge.ports[surface], '\u0000neither TLS nor HTTP\r\n\r\n'), '');
  });
}

async function sendPlain(port: number, bytes: string): Promise<string> {
  const socket = connectPlain(port, '127.0.0.1');
  let received = '';
  socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')));
  socket.on('error', () => {});
  socket.write(bytes);
  await new Promise((resolve) => socket.on('close', resolve));
  return received;
}

/**
 * Connects through a relay that holds back the client's second flight until the server has timed
 * out. @returns the server's response
 */
async function finishLate(port: number): Promise<string> {
  const relay = createServer((fromClient) => {
    const toServer = connectPlain(port, '127.0.0.1');
    let hasSentHello = false;
    fromClient.on('data', (flight) => {
      if (hasSentHello) setTimeout(() => toServer.write(flight), 2 * headersTimeoutMs);
      else toServer.write(flight);
      hasSentHello = true;
    });
    toServer.pipe(fromClient);
    for (const socket of [fromClient, toServer]) socket.on('error', () => {});
    toServer.on('close', () => fromClient.destroy());
  });
  relay.listen(0, '127.0.0.1');
  await once(relay, 'listening');
  const client = connect({
    port: (relay.address() as AddressInfo).port,
    host: '127.0.0.1',
    servername: 'localhost',
    ca: edge.ca,
    ALPNProtocols: ['h2'],
  });
  let received = '';
  client.on('secureConnect', () => client.write(preface));
  client.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')));
  client.on('error', () => {});
  await once(client, 'close');
  relay.close();
  return received;
}
