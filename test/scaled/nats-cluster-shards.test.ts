/** Writers on a NATS cluster whose leaders are killed. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { until } from '../harness/until.ts';
import { Random } from '../queue/random.ts';
import { JudgingStore } from './judging-store.ts';
import { openQueue, toOptions } from './nats-queues.ts';
import { openSender } from './nats-sender.ts';
import { missingNats, NatsCluster } from './nats-server.ts';
import { WriterProcess } from './nats-writers.ts';

const nanosPerSecond = 1_000_000_000n;
const timeoutMs = 90_000;

suite('writers on a cluster', { skip: missingNats() }, () => {
  let cluster: NatsCluster;
  before(async () => {
    cluster = await NatsCluster.start();
  });
  after(() => cluster?.stop());

  test('the watermark advances and nothing is lost when the leader of a shard is killed', {
    timeout: 230_000,
  }, async () => {
    const random = new Random(1);
    const store = new JudgingStore(random);
    const options = toOptions(cluster.urls, { shards: 2 });
    const queue = await openQueue(options);
    const writers = await Promise.all([0, 1].map(() => WriterProcess.start(options, store)));
    const sender = openSender(queue, random);
    try {
      await until(() => queue.watermarkNanos() > 0n, { what: 'a watermark', timeoutMs });
      const leader = await cluster.leaderOf('weir_0');
      const watermark = queue.watermarkNanos();
      await leader.kill();
      // The watermark advances in every shard: each is consumed again.
      await until(() => queue.watermarkNanos() > watermark + 3n * nanosPerSecond, {
        what: 'the watermark to advance without a server',
        timeoutMs,
      });
      await leader.restart();
      await sender.stop();
      const { acknowledged } = sender;
      await until(() => [...acknowledged].every((text) => store.countOf(text) > 0), {
        what: 'all acknowledged batches to be stored',
        timeoutMs,
      });
      assert.deepEqual(store.faults, []);
    } finally {
      await sender.stop();
      for (const writer of writers) await writer.kill();
      await queue.close();
    }
  });
});
