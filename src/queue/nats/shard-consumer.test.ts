/** The consumer of a shard on a server that fails to answer some requests. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createQueueNames, type NatsLink } from './connection.ts';
import { type Claimed, openShardConsumer } from './shard-consumer.ts';

const created = '2026-01-01T00:00:00Z';

/** @param failures requests to create a consumer that the server does not answer at first */
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
    streams: { info: async () => ({ created, state: { last_seq: 7 } }) },
  };
  const present = new AbortController().signal;
  return {
    connection,
    manager,
    names: createQueueNames('weir'),
    settings: { timeoutMs: 100, shards: 1 },
    isConnected: () => true,
    present: () => present,
    whenConnected: async () => undefined,
  } as unknown as NatsLink;
}

/** @returns what the holder of epoch 9 learns when its consumer is created */
async function open(link: NatsLink, hasLetGo: boolean): Promise<Claimed> {
  const closing = new AbortController();
  const opened = Promise.withResolvers<Claimed>();
  const consumer = openShardConsumer({
    link,
    shard: 0,
    fencingToken: { shard: link.names.shardName(0, created), epoch: 9n },
    earlier: { epoch: 5n, hasLetGo },
    telemetry: { consumerFailed: () => undefined },
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
  test(`a holder that did not release contests the shard, after ${failures} failures`, async () => {
    const { isContested } = await open(toLink(new Set(['e5']), failures), false);
    assert.equal(isContested, true);
  });
}

test('the consumer of a holder that released does not contest the shard', async () => {
  assert.equal((await open(toLink(new Set(['e5']), 1), true)).isContested, false);
});

test('a shard without a consumer is not contested', async () => {
  assert.equal((await open(toLink(new Set(), 1), false)).isContested, false);
});
