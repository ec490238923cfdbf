/** The quarantine at NATS, used by an operator while writers run. */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, suite, test } from 'node:test';
import { connect, headers as createHeaders } from '@nats-io/transport-node';
import { run } from '../../src/cli/program.ts';
import type { StampedBatch } from '../../src/model/batch.ts';
import { createQueueNames, type NatsSettings } from '../../src/queue/nats/connection.ts';
import { headers } from '../../src/queue/nats/messages.ts';
import { openQuarantineStream } from '../../src/queue/nats/quarantine-stream.ts';
import type { Queue, Shard } from '../../src/queue/port.ts';
import type { Quarantine, QuarantineEntry } from '../../src/queue/quarantine.ts';
import { createInstruments } from '../../src/telemetry/instruments.ts';
import { captureTerminal } from '../cli/captured-terminal.ts';
import { until } from '../harness/until.ts';
import { openSink, type Sink } from '../queue/sink.ts';
import { openQueue, owner, toBatch, toOptions } from './nats-queues.ts';
import { missingNats, NatsServer, withManager } from './nats-server.ts';

suite('the quarantine at NATS', { skip: missingNats() }, () => {
  let server: NatsServer;
  let options: NatsSettings;
  let queue: Queue;
  let quarantine: Quarantine;
  let work: Sink;
  /** Whether the store refuses batches that begin with `bad`. */
  let isRefusing: boolean;
  /** Delays the release of taken batches. */
  let judged: Promise<void> | undefined;
  let prefixes = 0;
  before(async () => {
    server = await NatsServer.start();
  });
  after(() => server?.stop());
  beforeEach(async () => {
    options = toOptions([server.url], { prefix: `q${prefixes++}` });
    queue = await openQueue(options);
    quarantine = await openQuarantineStream(options, createInstruments('silent'), 'change');
    isRefusing = true;
    judged = undefined;
    work = openSink(queue, { took: judge });
  });
  afterEach(async () => {
    await work.close();
    await quarantine.close();
    await queue.close();
  });

  async function judge(batches: readonly StampedBatch[], shard: Shard): Promise<void> {
    for (const batch of batches) {
      const isBad = Buffer.from(batch.payload).toString().startsWith('bad');
      if (isBad && isRefusing) await shard.quarantine(batch, 'the store\nwill not take it');
    }
    await judged;
  }

  async function quarantineTexts(...texts: readonly string[]): Promise<QuarantineEntry[]> {
    for (const text of texts) {
      await queue.append(toBatch(text, text.includes('large') ? 2_500_000 : undefined), owner);
    }
    return untilThere(texts.length);
  }

  /** Waits for so many complete batches. */
  async function untilThere(count: number): Promise<QuarantineEntry[]> {
    let found: QuarantineEntry[] = [];
    const isWhole = ({ reason }: QuarantineEntry) => !reason.endsWith(' pieces)');
    const isThere = async () => {
      found = await quarantine.list();
      return found.length === count && found.every(isWhole);
    };
    await until(isThere, { what: `${count} in quarantine` });
    return found;
  }

  const released = (text: string) => work.released.filter((each) => each.text === text);

  test('lists a batch that was quarantined, and drains it as suspect after a retry', async () => {
    assert.deepEqual(await quarantine.list(), []);
    const found = await quarantineTexts('bad small', 'bad large');
    assert.deepEqual(
      found.map(({ batch, reason }) => ({ ...batch, reason })),
      Array(2).fill({ layout: 'logs/1', rows: 1, owner, reason: 'the store will not take it' }),
    );
    const sizes = found.map(({ bytes }) => bytes).sort((a, b) => a - b);
    assert.ok(sizes[0]! < 1000 && sizes[1]! > 2_500_000);
    isRefusing = false;
    for (const { id } of found) await quarantine.retry(id);
    for (const text of ['bad small', 'bad large']) {
      await until(() => released(text).length === 2, { what: `${text} to be drained again` });
      const [first, again] = released(text);
      assert.deepEqual(again!.batch.id, first!.batch.id);
      assert.equal(again!.suspect, true);
      assert.equal(again!.shard, first!.shard, 'copies may remain at the old position');
      const { receivedAtNanos } = first!.batch;
      assert.ok(again!.batch.receivedAtNanos > receivedAtNanos, 'received at a new time');
      assert.ok(again!.batch.copies!.fromNanos <= receivedAtNanos);
    }
    assert.deepEqual(await quarantine.list(), []);
    await until(() => queue.status().quarantinedBatches === 0, { what: 'the count to be 0' });
  });

  test('keeps a batch that is refused again after each retry', async () => {
    for (const text of ['bad small', 'bad large']) {
      const [first] = await quarantineTexts(text);
      const times = () => work.released.filter((each) => each.text === text);
      for (let round = 2; round < 5; round++) {
        await quarantine.retry(first!.id);
        await until(() => times().length === round, { what: `try ${round}` });
        assert.deepEqual((await untilThere(1))[0]?.id, first!.id);
      }
      const [original, ...again] = times().map(({ batch }) => batch);
      for (const { copies } of again) {
        assert.ok(copies!.fromNanos <= original!.receivedAtNanos, 'an earlier copy was not found');
      }
      await quarantine.drop(first!.id);
      assert.deepEqual(await quarantine.list(), []);
    }
  });

  test('hands all copies of concurrent retries to one writer', async () => {
    const [{ id }] = (await quarantineTexts('bad large')) as [QuarantineEntry];
    isRefusing = false;
    const other = await openQuarantineStream(options, createInstruments('silent'), 'change');
    const results = await Promise.allSettled([quarantine.retry(id), other.retry(id)]);
    await other.close();
    assert.ok(results.some(({ status }) => status === 'fulfilled'));
    await until(() => released('bad large').length >= 2, { what: 'the batch to be drained again' });
    const [, ...again] = released('bad large');
    assert.equal(new Set(again.map(({ shard }) => shard)).size, 1);
    assert.ok(again.every(({ suspect }) => suspect));
    assert.deepEqual(await quarantine.list(), []);
  });

  test('drops damaged bytes, and refuses to retry them', async () => {
    const connection = await connect({ servers: [server.url] });
    const head = createHeaders();
    head.set(headers.kind, 'frames');
    const subject = createQueueNames(options.prefix).subject(0);
    connection.publish(subject, 'no frame', { headers: head });
    await connection.drain();
    const [{ id, batch, reason }] = (await untilThere(1)) as [QuarantineEntry];
    assert.equal(batch, undefined);
    assert.match(reason, /not a frame/);
    await assert.rejects(quarantine.retry(id), /cannot retry message-1: .*drop it/);
    assert.equal((await quarantine.list()).length, 1);
    await quarantine.drop(id);
    assert.deepEqual(await quarantine.list(), []);
    await assert.rejects(quarantine.drop(id), /cannot find message-1 in quarantine/);
  });

  test('treats a retried batch as another one while the first is unreleased', async () => {
    const gate = Promise.withResolvers<void>();
    judged = gate.promise;
    const [{ id }] = (await quarantineTexts('bad small')) as [QuarantineEntry];
    isRefusing = false;
    await quarantine.retry(id);
    await until(async () => (await waiting()) >= 2, { what: 'the copy to be delivered' });
    gate.resolve();
    await until(() => released('bad small').length === 2, {
      what: 'the batch to be drained again',
    });
    assert.equal(released('bad small')[1]!.suspect, true);
    await until(() => queue.status().bytes === 0, { what: 'the shards to be empty' });
  });

  /** Messages that were delivered and not acknowledged. */
  async function waiting(): Promise<number> {
    return withManager([server.url], async ({ consumers }) => {
      let pending = 0;
      for (let shard = 0; shard < options.shards; shard++) {
        const stream = createQueueNames(options.prefix).stream(shard);
        for await (const info of consumers.list(stream)) pending += info.num_ack_pending;
      }
      return pending;
    });
  }

  test('lists a batch that is quarantined again after a removal', async () => {
    const [{ id }] = (await quarantineTexts('bad small')) as [QuarantineEntry];
    const what = 'it to be released';
    const { batch, shard: name } = await until(() => released('bad small')[0], { what });
    const shard = work.shards.find(({ fencingToken }) => fencingToken.shard === name)!;
    await quarantine.drop(id);
    await shard.quarantine(batch, 'an answer was lost');
    assert.deepEqual(
      (await quarantine.list()).map((each) => [each.id, each.reason]),
      [[id, 'an answer was lost']],
    );
  });

  test('completes an interrupted removal when it is repeated', async () => {
    const names = createQueueNames(options.prefix);
    const onlooker = await openQuarantineStream(options, createInstruments('silent'), 'look');
    for (const again of ['retry', 'drop', 'list', 'drop its stream'] as const) {
      const [{ id }] = (await quarantineTexts('bad large')) as [QuarantineEntry];
      const count = await withManager([server.url], async ({ streams }) => {
        const { state } = await streams.info(names.quarantineStream);
        await streams.deleteMessage(names.quarantineStream, state.first_seq, false);
        return state.messages;
      });
      assert.ok(count > 2);
      assert.deepEqual(await onlooker.list(), []);
      const other = await openQuarantineStream(options, createInstruments('silent'), 'change');
      if (again === 'drop its stream') await queue.dropQuarantined(owner.streamId);
      else await (again === 'list' ? other.list() : other[again](id));
      await other.close();
      const left = await withManager([server.url], async ({ streams }) => {
        return (await streams.info(names.quarantineStream)).state.messages;
      });
      assert.equal(left, 0, again);
    }
    await onlooker.close();
  });

  test('reports a batch that another operator has removed', async () => {
    const [{ id }] = (await quarantineTexts('bad large')) as [QuarantineEntry];
    const other = await openQuarantineStream(options, createInstruments('silent'), 'change');
    await other.drop(id);
    await other.close();
    await assert.rejects(
      quarantine.retry(id),
      /cannot retry .*: it was retried or dropped meanwhile/,
    );
    await assert.rejects(quarantine.retry(id), /cannot find/);
  });

  test('retries all batches even if one fails', async () => {
    const found = await quarantineTexts('bad 1', 'bad large', 'bad 2');
    const large = found.find(({ bytes }) => bytes > 1000)!;
    const names = createQueueNames(options.prefix);
    await withManager([server.url], async (manager) => {
      const { streams } = manager;
      const { state } = await streams.info(names.quarantineStream);
      for (let seq = state.first_seq; seq <= state.last_seq; seq++) {
        const message = await streams.getMessage(names.quarantineStream, { seq });
        if (message === null || !message.header.get(headers.chunk).startsWith('1/')) continue;
        await streams.deleteMessage(names.quarantineStream, seq, false);
        const changed = Buffer.alloc(message.data.length, 1);
        message.header.delete('Nats-Msg-Id');
        await manager
          .jetstream()
          .publish(names.quarantineSubject, changed, { headers: message.header });
      }
    });
    isRefusing = false;
    const environment = { WEIR_QUEUE_URLS: server.url, WEIR_QUEUE_PREFIX: options.prefix };
    const terminal = captureTerminal({ environment });
    assert.equal(await run(['quarantine', 'retry', '--all'], terminal), 1);
    assert.match(terminal.error(), new RegExp(`cannot retry ${large.id}: .*no whole batch`));
    assert.match(terminal.error(), /cannot retry 1 of 3: see above/);
    for (const { id } of found) {
      assert.equal(terminal.out().includes(`retried ${id}\n`), id !== large.id);
    }
    assert.deepEqual(
      (await quarantine.list()).map(({ id }) => id),
      [large.id],
    );
  });

  test('reads the stream once for any number of drops', async () => {
    const count = 20;
    const found = await quarantineTexts(
      ...Array.from({ length: count }, (_, index) => `bad ${index}`),
    );
    const connection = await connect({ servers: [server.url] });
    const { quarantineStream } = createQueueNames(options.prefix);
    const reads = connection.subscribe(`$JS.API.STREAM.MSG.GET.${quarantineStream}`);
    await connection.flush();
    const opened = await openQuarantineStream(options, createInstruments('silent'), 'change');
    for (const { id } of found) await opened.drop(id);
    await opened.close();
    await connection.flush();
    assert.equal(reads.getReceived(), count);
    await connection.close();
    assert.deepEqual(await quarantine.list(), []);
  });

  test('lists a frame with a changed body as damaged', async () => {
    const [{ id }] = (await quarantineTexts('bad small')) as [QuarantineEntry];
    const names = createQueueNames(options.prefix);
    await withManager([server.url], async (manager) => {
      const { streams } = manager;
      const { state } = await streams.info(names.quarantineStream);
      const message = await streams.getMessage(names.quarantineStream, { seq: state.first_seq });
      const changed = Buffer.from(message!.data);
      changed[changed.length - 1]! ^= 1;
      message!.header.delete('Nats-Msg-Id');
      await manager
        .jetstream()
        .publish(names.quarantineSubject, changed, { headers: message!.header });
    });
    const found = await quarantine.list();
    assert.deepEqual(
      found.map((each) => [each.id === id, each.batch === undefined]),
      [
        [true, false],
        [false, true],
      ],
    );
    await assert.rejects(quarantine.retry(found[1]!.id), /no whole batch/);
  });

  test('keeps a batch in quarantine if its shard is full', async () => {
    const [{ id }] = (await quarantineTexts('bad large')) as [QuarantineEntry];
    const small = { ...options, maxBacklogBytes: 200_000, timeoutMs: 300 };
    const full = await openQueue(small);
    await full.close();
    await assert.rejects(quarantine.retry(id), /cannot retry .*: the queue does not take it/);
    assert.equal((await quarantine.list())[0]?.id, id);
  });

  test('names a prefix that does not exist', async () => {
    const elsewhere = { ...options, prefix: 'nowhere' };
    const opened = await openQuarantineStream(elsewhere, createInstruments('silent'), 'change');
    await assert.rejects(opened.list(), /cannot find the stream nowhere_quarantine.*queue\.prefix/);
    await opened.close();
  });
});
