/** Credentials, TLS and permissions at NATS. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import { AppError } from '../../src/model/errors.ts';
import type { Queue, Shard, ShardWork } from '../../src/queue/port.ts';
import { ensureLocalCertificate } from '../../src/server/local-authority.ts';
import { until } from '../harness/until.ts';
import { openQueue, owner, textOf, toBatch, toOptions } from './nats-queues.ts';
import { missingNats, NatsServer } from './nats-server.ts';

/** As docs/scaled-out/nats.md lists them. */
const publishable = [
  'weir.queue.*',
  'weir.quarantine',
  'weir.progress.*',
  '$KV.weir_leases.>',
  '$KV.weir_keys.>',
  '$KV.weir_signals.>',
  '$JS.API.STREAM.NAMES',
  '$JS.API.STREAM.INFO.*',
  '$JS.API.STREAM.CREATE.*',
  '$JS.API.STREAM.UPDATE.*',
  '$JS.API.STREAM.MSG.GET.*',
  '$JS.API.STREAM.PURGE.KV_weir_leases',
  '$JS.API.CONSUMER.NAMES.*',
  '$JS.API.CONSUMER.CREATE.>',
  '$JS.API.CONSUMER.DURABLE.CREATE.>',
  '$JS.API.CONSUMER.DELETE.>',
  '$JS.API.CONSUMER.MSG.NEXT.>',
  '$JS.ACK.>',
];
const subscribable = ['_INBOX.>', 'weir.progress.*', '$KV.weir_leases.>', '$KV.weir_signals.>'];

suite('access to NATS', { skip: missingNats() }, () => {
  async function start(t: TestContext, lines: string): Promise<NatsServer> {
    const server = await NatsServer.start(lines);
    t.after(() => server.stop());
    return server;
  }

  const opens = async (...given: Parameters<typeof toOptions>) => {
    const queue = await openQueue(toOptions(...given));
    await queue.append(toBatch('x'), owner);
    await queue.close();
  };

  test('connects as a user with a password', async (t) => {
    const server = await start(t, 'authorization { user: weir, password: "se:cr@t" }');
    const user = { user: 'weir', password: 'se:cr@t' };
    await opens([server.url], user);
    await opens([server.url.replace('//', '//weir:se%3Acr%40t@')]);
    const wrong = openQueue(toOptions([server.url], { ...user, password: 'wrong' }));
    await assert.rejects(wrong, /check queue\.urls and its credentials/);
  });

  test('connects with a token', async (t) => {
    const server = await start(t, 'authorization { token: "t0ken" }');
    await opens([server.url], { password: 't0ken' });
    await assert.rejects(openQueue(toOptions([server.url])), /Authorization/i);
  });

  test('connects over TLS with a private authority', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'weir-nats-tls-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    await ensureLocalCertificate(folder, new Date());
    const [caFile, certFile] = [join(folder, 'ca.pem'), join(folder, 'server.pem')];
    const keyFile = join(folder, 'server-key.pem');
    const server = await start(t, `tls { cert_file: "${certFile}", key_file: "${keyFile}" }`);
    const url = server.url.replace('nats:', 'tls:');
    await opens([url], { caFile });
    await assert.rejects(openQueue(toOptions([url])), /cannot connect to NATS/);
    const plain = await start(t, '');
    const notTls = openQueue(toOptions([plain.url.replace('nats:', 'tls:')], { caFile }));
    await assert.rejects(notTls, /does not support 'tls'/);
  });

  test('drains stored messages after max_payload was lowered', async (t) => {
    const server = await start(t, 'max_payload: 1MB');
    // So many that the share of each in the in-flight limit is smaller than a message.
    const options = toOptions([server.url], { shards: 64 });
    const before = await openQueue(options);
    const texts = Array.from({ length: 64 }, (_, index) => `large ${index}`);
    for (const text of texts) await before.append(toBatch(text, 500_000), owner);
    await before.close();
    await server.kill();
    await server.restart('max_payload: 64KB');
    const queue = await openQueue(options);
    assert.deepEqual((await drainAll(queue, 64)).sort(), texts.sort());
    await queue.close();
  });

  test('works with the documented permissions only', async (t) => {
    const permissions = JSON.stringify({ publish: publishable, subscribe: subscribable });
    const user = `{ user: weir, password: p, permissions: ${permissions} }`;
    const server = await start(t, `authorization { users: [${user}] }`);
    const queue = await openQueue(toOptions([server.url], { user: 'weir', password: 'p' }));
    const record = { key: randomBytes(16), bodyDigest: randomBytes(16), answer: randomBytes(5) };
    await queue.append(toBatch('good'), owner);
    await queue.append(toBatch('bad'), owner, record);
    const stored = await drainAll(queue, 2);
    assert.deepEqual(stored.sort(), ['bad', 'good']);
    await queue.recall(record.key);
    await queue.forgetSeries();
    await queue.receiptCutoff();
    await until(() => queue.status().quarantinedBatches === 1, { what: 'the quarantine' });
    assert.doesNotMatch(server.output(), /violation/i);
    // The documentation lists it apart: only deletions need it.
    const error = await queue.dropQuarantined(owner.streamId).catch((thrown: unknown) => thrown);
    await queue.close();
    assert.ok(error instanceof AppError && error.code === 'unavailable');
    assert.match(error.message, /\$JS\.API\.STREAM\.MSG\.DELETE\.weir_quarantine/);
  });
});

/** Takes all batches, sets `bad` aside and releases the others. */
async function drainAll(queue: Queue, count: number): Promise<string[]> {
  const stored: string[] = [];
  const limits = { maxRows: 100, maxBytes: 1_000_000 };
  const drain = async (shard: Shard): Promise<void> => {
    for (;;) {
      const taken = await shard.take(limits);
      if (taken === undefined) return;
      for (const batch of taken.batches) {
        const text = textOf(batch);
        if (text === 'bad') await shard.quarantine(batch, 'for a test');
        stored.push(text);
      }
      await shard.release(taken.batches);
    }
  };
  const work = queue.work((shard): ShardWork => {
    void drain(shard);
    return { close: async () => {} };
  });
  await until(() => stored.length === count, { what: `${count} batches to be drained` });
  await until(() => queue.status().batches === 0, { what: 'the streams to be empty' });
  await work.close();
  return stored;
}
