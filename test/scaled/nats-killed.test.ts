/** NATS is killed while writers drain: each batch is handed out, and none twice as new. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { until } from '../harness/until.ts';
import { openSink } from '../queue/sink.ts';
import { readBatches } from './nats-contents.ts';
import { grew, startLoad } from './nats-load.ts';
import { openQueue, toOptions } from './nats-queues.ts';
import { missingNats, NatsServer } from './nats-server.ts';

const rounds = 4;

suite('NATS killed while writers drain', { skip: missingNats() }, () => {
  test('hands out every acknowledged batch and leaves none in NATS', async () => {
    await using parts = new AsyncDisposableStack();
    const server = parts.adopt(await NatsServer.start(), (it) => it.stop());
    const options = toOptions([server.url], { shards: 4 });
    const queue = parts.adopt(await openQueue(options), (it) => it.close());
    const sink = parts.adopt(openSink(queue), (it) => it.close());
    const isEmpty = async () => (await readBatches([server.url], options)).length === 0;
    for (let round = 0; round < rounds; round++) {
      const load = startLoad(queue, 8, `${round}: `);
      await grew(load, 2000);
      await server.kill();
      await server.restart();
      await load.stop();
      const isHandedOut = () => {
        const texts = new Set(sink.taken.map(({ text }) => text));
        return load.acknowledged.every((text) => texts.has(text));
      };
      await until(isHandedOut, { what: 'all acknowledged events' });
      await until(isEmpty, { what: 'NATS to be empty' });
      const known = new Set<string>();
      for (const { batch, suspect } of sink.taken) {
        const id = `${batch.id.writer}/${batch.id.sequence}`;
        assert.ok(suspect || !known.has(id), 'handed out again without the suspect mark');
        known.add(id);
      }
    }
  });
});
