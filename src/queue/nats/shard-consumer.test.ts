/** The consumer of a shard on a server that fails to answer some requests. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createQueueNames, type NatsLink } from './connection.ts';
import { openShardConsumer } from './shard-consumer.ts';

const created = '2026-01-01T00:00:00Z';
const settings = { timeoutMs: 100, shards: 1 };

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
  const lost = new AbortController().signal;
  const names = createQueueNames('weir');
  const isConnected = () => true;
  const whenConnected = async () => undefined;
  const link = { connection, manager, names, settings, isConnected, whenConnected };
  return { ...link, lost: () => lost } as unknown as NatsLink;
}

function open(link: NatsLink, closing: AbortSignal, createdAt = created) {
  return openShardConsumer({
    link,
    shard: 0,
    fencingToken: { shard: link.names.shardName(0, createdAt), epoch: 9n },
    earlierEpoch: 5n,
    telemetry: { consumerFailed: () => undefined },
    closing,
    deliver: () => undefined,
    room: () => 0,
  });
}

for (const failures of [0, 1, 2]) {
  test(`replaces the consumer of the previous holder, after ${failures} failures`, async () => {
    const consumers = new Set(['e5']);
    const closing = new AbortController();
    const { ended } = open(toLink(consumers, failures), closing.signal);
    while (!consumers.has('e9')) await new Promise((resolve) => setTimeout(resolve, 5));
    closing.abort();
    assert.equal(await ended, 'closed');
    assert.deepEqual([...consumers], ['e9']);
  });
}

test('ends if a later holder has a consumer', async () => {
  const consumers = new Set(['e12']);
  const { ended } = open(toLink(consumers, 0), new AbortController().signal);
  assert.equal(await ended, 'superseded');
  assert.deepEqual([...consumers], ['e12']);
});

test('ends if the stream was created again', async () => {
  const { ended } = open(
    toLink(new Set(), 0),
    new AbortController().signal,
    '2025-01-01T00:00:00Z',
  );
  assert.equal(await ended, 'stream replaced');
});
