/** The npm client of StatsD sends each of its types, and the page's line of Bash a counter. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { StatsD } from 'node-statsd';
import { readSamples } from '../harness/metrics.ts';
import { until } from '../harness/until.ts';
import { blocksOf, readPages } from './pages.ts';
import { type SocketService, startSocketService } from '../sockets/socket-service.ts';

let sockets: SocketService;
before(async () => {
  sockets = await startSocketService(['--statsd-udp', '127.0.0.1:0', '--statsd-flush-ms', '200']);
  await sockets.restart(({ quickstart }) => [
    '--statsd-receiver',
    quickstart.receivers.prometheus.receiverId,
  ]);
});
after(() => sockets?.service.stop());

test('counters, gauges, timers, histograms and sets, with tags', async () => {
  const port = sockets.port('statsd.udp');
  const client = new StatsD({ host: '127.0.0.1', port, global_tags: ['env:prod'] });
  client.increment('shop.paid', 3);
  client.decrement('shop.paid');
  client.gauge('shop.load', 1.5);
  client.timing('shop.wait', 250);
  client.histogram('shop.size', 7);
  client.unique('shop.users', 'ann');
  client.increment('shop.tagged', 1, 1, ['zone:b']);
  const env = 'prod';
  const expected: [Record<string, string>, number][] = [
    [{ __name__: 'shop_paid', env }, 2],
    [{ __name__: 'shop_load', env }, 1.5],
    [{ __name__: 'shop_wait', env, quantile: '0.9' }, 0.25],
    [{ __name__: 'shop_wait_sum', env }, 0.25],
    [{ __name__: 'shop_size_count', env }, 1],
    [{ __name__: 'shop_users', env }, 1],
    [{ __name__: 'shop_tagged', env, zone: 'b' }, 1],
  ];
  for (const [labels, value] of expected) {
    const what = `${JSON.stringify(labels)} to be ${value}`;
    await until(
      async () => (await readSamples(sockets.service, labels)).some(([, one]) => one === value),
      { what },
    );
  }
  client.close();
  await once(client.socket, 'close');
  assert.equal((await sockets.service.metric('weir_socket_messages_dropped_total')) ?? 0, 0);
});

test('the line of Bash of its page', async () => {
  const page = readPages().find(({ path }) => path === 'docs/senders/statsd.md');
  const line = page && blocksOf(page).find(({ text }) => text.includes('/dev/udp/'));
  assert.ok(line);
  const address = `127.0.0.1/${sockets.port('statsd.udp')}`;
  execFileSync('bash', ['-c', line.text.replace('weir.example.com/8125', address)]);
  const labels = { __name__: 'backup_done', env: 'prod' };
  await until(
    async () => (await readSamples(sockets.service, labels)).some(([, one]) => one === 1),
    { what: 'the counter of the page' },
  );
});
