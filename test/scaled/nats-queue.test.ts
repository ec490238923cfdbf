/** Appending to the queue at NATS JetStream: complete, in order, once for each key. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, suite, test } from 'node:test';
import { AppError } from '../../src/model/errors.ts';
import { openBucket } from '../../src/queue/nats/bucket.ts';
import { createIdempotencyKeys } from '../../src/queue/nats/idempotency-keys.ts';
import { createQueueNames, openNatsLink } from '../../src/queue/nats/connection.ts';
import { provision } from '../../src/queue/nats/provision.ts';
import { ShardWriter } from '../../src/queue/nats/shard-writer.ts';
import type { IdempotencyRecord, Queue } from '../../src/queue/port.ts';
import { createInstruments } from '../../src/telemetry/instruments.ts';
import { createNatsEvents } from '../../src/telemetry/queue-events.ts';
import { until } from '../harness/until.ts';
import { openSink } from '../queue/sink.ts';
import { openQueue, owner, textOf, toBatch, toOptions } from './nats-queues.ts';
import { missingNats, NatsServer, withManager } from './nats-server.ts';
import { readBatches } from './nats-contents.ts';
import { isUnavailable } from './nats-load.ts';

suite('appending to NATS', { skip: missingNats() }, () => {
  let server: NatsServer;
  const queues: Queue[] = [];
  let prefixes = 0;
  before(async () => {
    server = await NatsServer.start();
  });
  after(async () => {
    for (const queue of queues) await queue.close();
    await server?.stop();
  });

  /** Separate streams for each test. */
  const newOptions = (over: Parameters<typeof toOptions>[1] = {}) =>
    toOptions([server.url], { prefix: `t${prefixes++}`, ...over });

  async function open(options: ReturnType<typeof newOptions>): Promise<Queue> {
    const queue = await openQueue(options);
    queues.push(queue);
    return queue;
  }

  const newRecord = (answer: string): IdempotencyRecord => ({
    key: randomBytes(16),
    bodyDigest: randomBytes(16),
    answer: Buffer.from(answer),
  });

  test('stores concurrent batches once each, several to a message', async () => {
    const options = newOptions();
    const queue = await open(options);
    const texts = Array.from({ length: 1000 }, (_, index) => `batch ${index}`);
    await Promise.all(texts.map((text) => queue.append(toBatch(text), owner)));
    const stored = await readBatches([server.url], options);
    assert.deepEqual(stored.map(textOf).sort(), texts.sort());
    assert.ok(stored.every(({ rows, layout }) => rows === 1 && layout === 'logs/1'));
    assert.deepEqual(stored[0]!.owner, owner);
    const messages = new Set(stored.map(({ shard, message }) => `${shard}/${message}`));
    assert.ok(messages.size < 100, `${messages.size} messages`);
    assert.equal(new Set(stored.map(({ shard }) => shard)).size, 2);
    assert.ok(stored.every(({ copiesSince }) => copiesSince === ''));
  });

  test('sends logs to a shard without a holder only if the others have none', async () => {
    const options = newOptions({ shards: 1 });
    const sink = openSink(await open(options));
    // The first node on which queue.shards is raised.
    const queue = await open({ ...options, shards: 2 });
    const append = () => queue.append(toBatch('log'), owner);
    await withManager([server.url], async ({ streams }) => {
      const stream = createQueueNames(options.prefix).stream(1);
      const last = async () => (await streams.info(stream)).state.last_seq;
      const passes = async () => {
        const earlier = await last();
        for (let count = 0; count < 4; count++) await append();
        return (await last()) === earlier;
      };
      await until(passes, { what: 'logs to skip the shard without a holder' });
    });
    await sink.close();
  });

  test('keeps samples of a stream in one shard, in order', async () => {
    const options = newOptions({ shards: 4 });
    const queue = await open(options);
    const texts = Array.from({ length: 50 }, (_, index) => `write ${index}`);
    for (const text of texts) {
      await queue.append({ ...toBatch(text), layout: 'metrics/1' }, owner);
    }
    const stored = await readBatches([server.url], options);
    assert.deepEqual(stored.map(textOf), texts);
    assert.equal(new Set(stored.map(({ shard }) => shard)).size, 1);
  });

  test('sends a batch larger than a message in pieces', async () => {
    const options = newOptions({ shards: 1 });
    const queue = await open(options);
    const payloads = Array.from({ length: 8 }, () => randomBytes(8 * 1024 * 1024));
    await Promise.all(
      payloads.map((bytes) => {
        const payload = new Uint8Array(new ArrayBuffer(bytes.length));
        payload.set(bytes);
        return queue.append({ layout: 'logs/1', rows: 7, payload }, owner);
      }),
    );
    const stored = await readBatches([server.url], options);
    assert.equal(stored.length, payloads.length);
    for (const { payload } of stored) {
      assert.ok(payloads.some((each) => Buffer.compare(each, payload) === 0));
    }
  });

  test('refuses a batch whose pieces a suspended process sends minutes apart', async (context) => {
    const options = newOptions({ shards: 1 });
    const queue = await open(options);
    const now = Date.now.bind(Date);
    let aheadMs = 0;
    // The monotonic clock stands still while the process is suspended.
    context.mock.method(Date, 'now', () => now() + aheadMs);
    const appended = queue.append(toBatch('large', 100 * 1024 * 1024), owner);
    const refused = assert.rejects(appended, isUnavailable);
    await withManager([server.url], async ({ streams }) => {
      const stream = createQueueNames(options.prefix).stream(0);
      const held = async () => (await streams.info(stream)).state.messages;
      await until(async () => (await held()) > 0, { what: 'the first piece' });
    });
    aheadMs = 660_000;
    await refused;
  });

  test('refuses a key that was claimed for an unknown shard', async () => {
    const options = newOptions({ shards: 1 });
    const queue = await open(options);
    const link = await openNatsLink(options, createNatsEvents(createInstruments('silent')));
    const events = createNatsEvents(createInstruments('silent'));
    const bucket = await openBucket(link, link.names.keys, events);
    const record = newRecord('x');
    await createIdempotencyKeys(bucket).claim(record, {
      id: { writer: 1n, sequence: 1n },
      shard: 1,
    });
    await assert.rejects(queue.append(toBatch('x'), owner, record), isUnavailable);
    bucket.close();
    await link.close();
  });

  test('frees the memory of payloads', async () => {
    const queue = await open(newOptions());
    const batch = toBatch('x', 300_000);
    await queue.append(batch, owner);
    assert.equal(batch.payload.length, 0);
  });

  test('stores a key once over all gateways', async () => {
    const options = newOptions();
    const [one, two] = [await open(options), await open(options)];
    const record = newRecord('the first answer');
    assert.equal((await one.append(toBatch('first'), owner, record)).first, undefined);
    await until(async () => (await two.recall(record.key)) !== undefined, { what: 'the answer' });
    const second = await two.append(toBatch('second'), owner, {
      ...record,
      answer: Buffer.from('another answer'),
    });
    assert.equal(Buffer.from(second.first!.answer).toString(), 'the first answer');
    const other = { ...record, bodyDigest: randomBytes(16) };
    await assert.rejects(two.append(toBatch('third'), owner, other), isMalformed);
    assert.deepEqual((await readBatches([server.url], options)).map(textOf), ['first']);
    assert.equal(await one.recall(randomBytes(16)), undefined);
  });

  test('stores a key once that two gateways get at the same time', async () => {
    const options = newOptions();
    const both = [await open(options), await open(options)];
    for (const [name, bytes] of [
      ['small', 100],
      ['large', 2 * 1024 * 1024],
    ] as const) {
      const records = Array.from({ length: 20 }, (_, index) => newRecord(`${name} ${index}`));
      const answers = await Promise.all(
        records.flatMap((record, index) =>
          both.map((queue, gateway) =>
            queue.append(toBatch(`${name} ${index} by ${gateway}`, bytes), owner, record),
          ),
        ),
      );
      assert.equal(answers.filter(({ first }) => first === undefined).length, 20);
      const stored = (await readBatches([server.url], options)).map(textOf);
      const indexes = stored
        .filter((text) => text.startsWith(name))
        .map((text) => text.split(' ')[1]);
      assert.deepEqual(
        indexes.map(Number).sort((a, b) => a - b),
        [...Array(20).keys()],
        name,
      );
    }
  });

  suite('a gateway that died', () => {
    /** Does what a gateway does before it dies. */
    async function leaveBehind(
      options: ReturnType<typeof newOptions>,
      record: IdempotencyRecord,
      published: string | undefined,
    ): Promise<void> {
      const events = createNatsEvents(createInstruments('silent'));
      const link = await openNatsLink(options, events);
      const bucket = await openBucket(link, link.names.keys, events);
      const id = { writer: 77n, sequence: 7n };
      await createIdempotencyKeys(bucket).claim(record, { id, shard: 1 });
      if (published !== undefined) {
        const writer = new ShardWriter(link, 1, events);
        const batch = { ...toBatch(published), id, owner, receivedAtNanos: 0n };
        await writer.write({ batch, copiesSinceMs: () => undefined });
        writer.close();
      }
      bucket.close();
      await link.close();
    }

    test('before publishing: the retry publishes under the claimed id', async () => {
      const options = newOptions();
      const queue = await open(options);
      const record = newRecord('its answer');
      await leaveBehind(options, record, undefined);
      assert.equal(await queue.recall(record.key), undefined);
      const own = { ...record, answer: Buffer.from('our answer') };
      const { first } = await queue.append(toBatch('again'), owner, own);
      assert.equal(Buffer.from(first!.answer).toString(), 'its answer');
      const [stored, ...others] = await readBatches([server.url], options);
      assert.equal(others.length, 0);
      assert.deepEqual([stored!.id, stored!.shard], [{ writer: 77n, sequence: 7n }, 1]);
      const ageMs = Date.now() - Number(BigInt(stored!.copiesSince) / 1_000_000n);
      assert.ok(ageMs >= 0 && ageMs < 60_000, `first attempt ${ageMs} ms ago`);
    });

    test('after publishing: the retry changes nothing', async () => {
      const options = newOptions();
      const queue = await open(options);
      const record = newRecord('its answer');
      await leaveBehind(options, record, 'its batch');
      const { first } = await queue.append(toBatch('again'), owner, record);
      assert.equal(Buffer.from(first!.answer).toString(), 'its answer');
      assert.deepEqual((await readBatches([server.url], options)).map(textOf), ['its batch']);
      await until(async () => (await queue.recall(record.key)) !== undefined, {
        what: 'the batch to be recorded',
      });
    });

    test('after its batch was drained: the retry is marked as a copy', async () => {
      const options = newOptions();
      const queue = await open(options);
      const record = newRecord('its answer');
      await leaveBehind(options, record, 'its batch');
      const stream = `${options.prefix}_1`;
      await withManager([server.url], async ({ streams }) => {
        await streams.deleteMessage(stream, (await streams.info(stream)).state.last_seq);
      });
      // NATS forgets the ids of removed messages.
      await server.kill();
      await server.restart();
      await until(() => queue.status().writable, { what: 'the connection' });
      await queue.append(toBatch('again'), owner, record);
      const [stored] = await readBatches([server.url], options);
      assert.equal(stored!.id.writer, 77n);
      assert.notEqual(stored!.copiesSince, '');
    });
  });

  test('returns a long answer, and refuses one that NATS does not take alone', async () => {
    const queue = await open(newOptions());
    // As of a bulk request with many items.
    const record = newRecord('{"create":{"status":201}},'.repeat(60_000));
    await queue.append(toBatch('first'), owner, record);
    const { first } = await queue.append(toBatch('again'), owner, record);
    assert.equal(Buffer.compare(first!.answer, record.answer), 0);
    const tooLong = { ...newRecord(''), answer: randomBytes(1_000_000) };
    await assert.rejects(
      queue.append(toBatch('other'), owner, tooLong),
      (error) => error instanceof AppError && error.code === 'too_large',
    );
    await queue.append(toBatch('last'), owner, newRecord('its answer'));
  });

  test('refuses batches with a reason while full, and recovers', async () => {
    const options = newOptions({ maxBacklogBytes: 4_000_000 });
    const queue = await open(options);
    let taken = 0;
    const fill = async (): Promise<boolean> => {
      try {
        await queue.append(toBatch('x', 100_000), owner);
        taken++;
        return false;
      } catch (error) {
        assert.ok(isUnavailable(error));
        return !queue.status().writable;
      }
    };
    await until(fill, { what: 'a full queue', everyMs: 1 });
    assert.ok(taken >= 30, `${taken} taken`);
    assert.match(queue.status().reason, /maximum bytes/);
    await until(() => queue.status().batches >= taken, { what: 'the backlog to be reported' });
    assert.ok(queue.status().bytes > 3_000_000);
    await withManager([server.url], async ({ streams }) => {
      for (const shard of [0, 1]) await streams.purge(`${options.prefix}_${shard}`);
    });
    await until(() => queue.status().writable, { what: 'room' });
    await queue.append(toBatch('x', 100_000), owner);
    await until(() => queue.status().batches < 10, { what: 'an empty backlog' });
  });

  test('separates earlier from later batches by a cutoff', async () => {
    const options = newOptions();
    const [one, two] = [await open(options), await open(options)];
    const names = { before: [] as string[], after: [] as string[] };
    let count = 0;
    const append = async (into: string[]) => {
      const text = `${count++}`;
      await (count % 2 === 0 ? one : two).append(toBatch(text), owner);
      into.push(text);
    };
    for (let round = 0; round < 20; round++) await append(names.before);
    const [earlier, during] = [[...names.before], [] as string[]];
    let isChosen = false;
    const chosen = one.receiptCutoff().finally(() => (isChosen = true));
    while (!isChosen) await append(during);
    const line = await chosen;
    for (let round = 0; round < 20; round++) await append(names.after);
    const times = new Map(
      (await readBatches([server.url], options)).map((batch) => [textOf(batch), batch.timeNanos]),
    );
    assert.equal((line + 1_000_000n) % 1_000_000_000n, 0n);
    for (const text of earlier) assert.ok(times.get(text)! <= line, text);
    for (const text of names.after) assert.ok(times.get(text)! > line, text);
  });

  test('signals every node once that labels are forgotten', async () => {
    const options = newOptions();
    const [one, two] = [await open(options), await open(options)];
    const heard = [0, 0];
    one.whenSeriesForgotten(() => heard[0]!++);
    two.whenSeriesForgotten(() => heard[1]!++);
    const raised = one.forgetSeries();
    assert.equal(heard[0], 1);
    await raised;
    await until(() => heard[1] === 1, { what: 'the other node to receive the change' });
    assert.deepEqual(heard, [1, 1]);
  });

  test('explains refused settings', async () => {
    const options = newOptions({ shards: 3 });
    await open(options);
    const refused = async (over: object, words: RegExp) => {
      await assert.rejects(openQueue({ ...options, ...over }), (error: Error) => {
        assert.match(error.message, words);
        return true;
      });
    };
    await refused({ shards: 2 }, /set queue\.shards to at least 3/);
    await refused({ storage: 'memory' }, /queue\.storage/);
    await refused({ replicas: 3, prefix: 'other' }, /set queue\.replicas to 1/);
    await refused({ urls: ['nats://127.0.0.1:1'] }, /check queue\.urls/);
    await refused({ urls: ['http://127.0.0.1:4222'] }, /nats:\/\/host:4222/);
  });

  test('lets several nodes start at once', async () => {
    const options = newOptions();
    await Promise.all([open(options), open(options), open(options)]);
    assert.equal((await readBatches([server.url], options)).length, 0);
  });

  test('takes a stream that another node makes at the same moment', async () => {
    const options = newOptions();
    const events = createNatsEvents(createInstruments('silent'));
    const link = await openNatsLink(options, events);
    const { streams } = link.manager;
    const add = streams.add.bind(streams);
    // The server's answer when it looked for the name before and for the subjects after.
    streams.add = async (config) => {
      await add(config);
      return add({ ...config, name: `${config.name}_second` });
    };
    try {
      await provision(link, events);
    } finally {
      await link.close();
    }
    await withManager([server.url], async (manager) => {
      for (let shard = 0; shard < options.shards; shard++) {
        const { config } = await manager.streams.info(link.names.stream(shard));
        assert.deepEqual(config.subjects, [link.names.subject(shard)]);
      }
    });
  });

  test('refuses a foreign stream of its subjects', async () => {
    const options = newOptions();
    const subjects = [createQueueNames(options.prefix).subject(0)];
    await withManager([server.url], (manager) =>
      manager.streams.add({ name: 'foreign', subjects }),
    );
    await assert.rejects(open(options), /another has its subjects; choose another queue\.prefix/);
  });
});

function isMalformed(error: unknown): boolean {
  return error instanceof AppError && error.code === 'malformed';
}
