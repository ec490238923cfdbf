/** Listening for changes of the directory, on a port without PostgreSQL. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { test } from 'node:test';
import { openDirectoryChanges } from '../../src/directory/postgres-changes.ts';

test('close() between two attempts ends the attempts', async (t) => {
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    socket.destroy();
  });
  t.after(() => server.close());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const failed = Promise.withResolvers<void>();
  const changes = openDirectoryChanges(
    { url: `postgres://weir@127.0.0.1:${port}/weir`, password: '' },
    { source: { listStreams: async () => [] }, grants: { invalidate: () => undefined } },
    { changeFeedLost: () => failed.resolve(), changeFeedRestored: () => undefined },
  );
  await failed.promise;
  await changes.close();
  assert.equal(connections, 1);
});
