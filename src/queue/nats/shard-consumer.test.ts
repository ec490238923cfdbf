/** Making the consumer of a shard, against a server that now and then gives no answer. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ShardEvents } from '../../telemetry/queue-events.ts';
import type { NatsLink } from './connection.ts';
import { createQueueNames } from './names.ts';
import { type Claimed, openShardConsumer } from './shard-consumer.ts';

/** A stream with consumers by name, whose server fails to answer the first wishes to make one. */
function toLink(consumers: Set<string>, failures: number): NatsLink {
  let left = failures;
  const connection = {
    request: async () => ({ json: () => ({ consumers: [...consumers] }) }),
    subscribe: () => ({ unsubscribe: () => undefined, isClosed: () => true }),
  };
  const manager = {
    consumers: {
      delete: async (_stream: string, name: string) => consumers.delete(name),
      async add(_stream: string, { durable_name }: { durable_name: string }) {
        if (left-- > 0) throw new Error('no answer in time');
        consumers.add(durable_name);
      },
    },
    streams: { info: async () => ({ state: { last_seq: 7 } }) },
  };
  const present = new AbortController().signal;
  return {
    connection,
    manager,
    names: createQueueNames('weir'),
    options: { timeoutMs: 100, shards: 1 },
    isConnected: () => true,
    present: () => present,
    whenConnected: async () => undefined,
  } as unknown as NatsLink;
}

/** @returns what the holder of epoch 9 was told when its consumer was made. */
async function open(link: NatsLink, hasLetGo: boolean): Promise<Claimed> {
  const closing = new AbortController();
  const opened = Promise.withResolvers<Claimed>();
  const consumer = openShardConsumer({
    link,
    shard: 0,
    epoch: 9n,
    earlier: { epoch: 5n, hasLetGo },
    telemetry: { consumerFailed: () => undefined } as unknown as ShardEvents,
    closing: closing.signal,
    opened: opened.resolve,
    deliver: () => undefined,
    room: () => 0,
  });
  const claimed = await opened.promise;
  closing.abort();
  assert.equal(await consumer.ended, 'closed');
  return claimed;
}

for (const failures of [0, 1, 2]) {
  test(`who did not let go contests the shard, ${failures} failures later`, async () => {
    const { isContested } = await open(toLink(new Set(['e5']), failures), false);
    assert.equal(isContested, true);
  });
}

test('the consumer of who has let go contests nothing', async () => {
  assert.equal((await open(toLink(new Set(['e5']), 1), true)).isContested, false);
});

test('where there was no consumer, nothing is contested', async () => {
  assert.equal((await open(toLink(new Set(), 1), false)).isContested, false);
});
