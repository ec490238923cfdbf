/**
 * A message that reaches NATS long after it was sent, as over a stalled network, when NATS has
 * forgotten its id: it must not be stored twice.
 */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { jetstream } from '@nats-io/jetstream';
import { connect, headers as createHeaders } from '@nats-io/transport-node';
import { createQueueNames } from '../../src/queue/nats/connection.ts';
import { headers, messageKinds } from '../../src/queue/nats/messages.ts';
import { until } from '../harness/until.ts';
import { openSink } from '../queue/sink.ts';
import { openFaultProxy } from './fault-proxy.ts';
import { openQueue, owner, toBatch, toOptions } from './nats-queues.ts';
import { missingNats, NatsServer, withManager } from './nats-server.ts';

suite('a message that arrives late', { skip: missingNats() }, () => {
  test('is suspect if it may have been sent again since', async (context) => {
    await using parts = new AsyncDisposableStack();
    const server = parts.adopt(await NatsServer.start(), (it) => it.stop());
    const target = { host: '127.0.0.1', port: server.place.port };
    const ways = await Promise.all([openFaultProxy(target), openFaultProxy(target)]);
    for (const each of ways) parts.adopt(each, (it) => it.close());
    const urls = ways.map(({ port }) => `nats://127.0.0.1:${port}`);
    const options = { shards: 1, replicas: 1, timeoutMs: 15_000 };
    const queue = parts.adopt(await openQueue(toOptions(urls, options)), (it) => it.close());
    const slow = ways.find((it) => it.connections() > 0)!;
    const direct = toOptions([server.url], options);
    const writer = parts.adopt(await openQueue(direct), (it) => it.close());
    const sink = parts.adopt(openSink(writer), (it) => it.close());
    const stream = createQueueNames('weir').stream(0);
    await withManager([server.url], async ({ streams }) => {
      // As after two minutes.
      await streams.update(stream, { duplicate_window: 100_000_000 });
    });
    // The server receives it this long after it was sent.
    const now = Date.now.bind(Date);
    context.mock.method(Date, 'now', () => now() - 60_000);
    slow.hold();
    await queue.append(toBatch('once'), owner);
    await until(() => sink.released.length === 1, { what: 'the batch over another connection' });
    await forgetsIds(server);
    await slow.pass('up');
    await until(() => sink.released.length > 1, { what: 'the same batch again' });
    const again = sink.released.slice(1);
    assert.deepEqual(new Set(again.map(({ text }) => text)), new Set(['once']));
    for (const { suspect, batch } of again) {
      assert.ok(suspect, 'it would be stored again without a look-up');
      const { fromNanos, untilNanos } = batch.copies!;
      const stored = sink.released[0]!.batch.receivedAtNanos;
      assert.ok(fromNanos <= stored && stored <= untilNanos);
    }
  });
});

/** Resolves when NATS has forgotten the ids of all messages of this moment. */
async function forgetsIds(server: NatsServer): Promise<void> {
  const connection = await connect({ servers: server.url });
  const head = createHeaders();
  head.set(headers.kind, messageKinds.tick);
  const publish = () =>
    jetstream(connection).publish(createQueueNames('weir').subject(0), '', {
      msgID: 'probe',
      headers: head,
    });
  await publish();
  await until(async () => !(await publish()).duplicate, { what: 'a message id to expire' });
  await connection.close();
}
