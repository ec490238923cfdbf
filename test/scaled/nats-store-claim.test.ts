/** All writers of a queue fill one store; another is accepted once no writer runs. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { missingNats, NatsServer } from './nats-server.ts';
import { openQueue, toOptions } from './nats-queues.ts';

suite('the store of a queue at NATS', { skip: missingNats() }, () => {
  test('refuses another store while writers fill the first, then accepts it', async () => {
    const server = await NatsServer.start();
    const open = () => openQueue(toOptions([server.url], { leaseSeconds: 2 }));
    const [first, second, other] = [await open(), await open(), await open()];
    try {
      await first.bindStore('a');
      const work = first.work(() => ({ ended: undefined, close: async () => undefined }));
      await second.bindStore('a');
      await assert.rejects(
        other.bindStore('b'),
        /queue "weir" at NATS into this store: running writers/,
      );
      await work.close();
      await other.bindStore('b');
      const next = other.work(() => ({ ended: undefined, close: async () => undefined }));
      await assert.rejects(second.bindStore('a'), /fill another one/);
      await next.close();
    } finally {
      await Promise.all([first, second, other].map((queue) => queue.close()));
      await server.stop();
    }
  });
});
