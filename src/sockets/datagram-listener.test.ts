/** A UDP port, and faults in what takes its datagrams. */
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { test } from 'node:test';
import { openDatagramSocket } from './datagram-listener.ts';

test('a datagram that meets a fault is dropped alone', async () => {
  const failures: unknown[] = [];
  const drops: unknown[] = [];
  const address = { host: '127.0.0.1', port: 0 };
  const events = {
    failed: (...failure: unknown[]) => failures.push(failure),
    dropped: (...drop: unknown[]) => drops.push(drop),
  };
  const fault = new RangeError('a fault');
  const isDone = Promise.withResolvers<void>();
  const socket = await openDatagramSocket(
    { address, listener: 'test', setting: 'test.udp' },
    events,
    (datagram) => {
      if (datagram.toString() === 'odd') throw fault;
      isDone.resolve();
    },
  );
  const sender = createSocket('udp4');
  for (const text of ['odd', 'plain']) sender.send(text, socket.port, address.host);
  await isDone.promise;
  sender.close();
  await socket.close();
  assert.deepEqual(failures, [['test', fault]]);
  assert.deepEqual(drops, [['test', 'internal', 1]]);
});
