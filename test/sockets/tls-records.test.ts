/** Records of TLS that arrive while a connection is not read. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { connect, createServer, type TLSSocket } from 'node:tls';
import { readAhead } from '../../src/sockets/read-ahead.ts';
import { createClientAuthority } from '../harness/client-authority.ts';
import { until } from '../harness/until.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';

test('are one chunk', async (t) => {
  const folder = temporaryFolder();
  const { certFile, keyFile } = createClientAuthority(folder).issue('localhost');
  const server = createServer({ cert: readFileSync(certFile), key: readFileSync(keyFile) });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const accepted = once(server, 'secureConnection') as Promise<[TLSSocket]>;
  const { port } = server.address() as AddressInfo;
  const client = connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
  t.after(() => client.destroy());
  const [socket] = await accepted;
  let ahead = 0;
  const hold = (bytes: number) => {
    ahead = bytes;
    return true;
  };
  const held = { hold, release: () => void hold(0) };
  const chunks = readAhead(socket, new AbortController().signal, held);
  client.write('first\n');
  assert.equal(String((await chunks.next()).value), 'first\n');
  const records = Array.from({ length: 100 }, (_, n) => `record ${n}\n`);
  for (const record of records) await new Promise((resolve) => client.write(record, resolve));
  const all = records.join('');
  await until(() => ahead === all.length, { what: 'all records' });
  assert.equal(String((await chunks.next()).value), all);
  client.end();
  assert.equal((await chunks.next()).done, true);
});
