/** The contract of a queue, run against each implementation. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, test } from 'node:test';
import type { BatchOwner, Layout } from '../../src/model/batch.ts';
import type { Queue, Shard } from '../../src/queue/port.ts';
import { until } from '../harness/until.ts';
import { openSink, type Sink, type Sunk } from './sink.ts';

/** A location for one queue, initially empty. */
export interface QueuePlace {
  readonly shards: number;
  /** May be called again once the previous queue is closed. */
  open(): Promise<Queue>;
  remove(): Promise<void>;
}

const nanosPerMs = 1_000_000n;
const nanosPerSecond = 1_000_000_000n;

/** @param createPlace called for each test */
export function testQueueContract(createPlace: () => Promise<QueuePlace>): void {
  let place: QueuePlace;
  let queue: Queue;
  let sinks: Sink[];
  beforeEach(async () => {
    place = await createPlace();
    queue = await place.open();
    sinks = [];
  });
  afterEach(async () => {
    await close();
    await place.remove();
  });

  const sink: typeof openSink = (...args) => {
    const opened = openSink(...args);
    sinks.push(opened);
    return opened;
  };

  async function close(): Promise<void> {
    for (const each of sinks.splice(0)) await each.close();
    await queue.close();
  }

  async function reopen(): Promise<void> {
    await close();
    queue = await place.open();
  }

  test('returns batches as appended, in order', async () => {
    const texts = Array.from({ length: 50 }, (_, index) => `batch ${index}`);
    for (const text of texts) await queue.append(write(text, 'metrics/1'), owner('a'));
    const { released } = sink(queue);
    await untilCount(released, texts.length);
    assert.deepEqual(
      released.map(({ text }) => text),
      texts,
    );
    assert.ok(released.every(({ batch }) => batch.layout === 'metrics/1' && batch.rows === 1));
    assert.deepEqual(released[0]!.batch.owner, owner('a'));
    const ids = released.map(({ batch: { id } }) => `${id.writer}/${id.sequence}`);
    assert.equal(new Set(ids).size, texts.length);
    const stamps = released.map(({ batch }) => batch.receivedAtNanos);
    assert.ok(stamps.every((stamp, index) => index === 0 || stamp >= stamps[index - 1]!));
  });

  test('takes up to the limits, or one larger batch', async () => {
    for (const bytes of [10, 10, 10, 5000, 10]) {
      await queue.append(write('x', 'metrics/1', bytes), owner('a'));
    }
    const takes: number[][] = [];
    const took = (batches: readonly { payload: Uint8Array }[]) =>
      takes.push(batches.map(({ payload }) => payload.length));
    const limits = { maxRows: 2, maxBytes: 1000 };
    const { released } = sink(queue, { limits, took });
    await untilCount(released, 5);
    assert.deepEqual(takes.flat(), [10, 10, 10, 5000, 10]);
    assert.ok(takes.every((sizes) => sizes.length <= 2));
    assert.ok(takes.some((sizes) => sizes.length === 1 && sizes[0] === 5000));
  });

  test('does not return released batches again', async () => {
    await queue.append(write('before'), owner('a'));
    const { released } = sink(queue);
    await untilCount(released, 1);
    await reopen();
    for (let index = 0; index < place.shards; index++) {
      await queue.append(write('after'), owner('a'));
    }
    const later = sink(queue);
    await untilCount(later.released, place.shards);
    assert.deepEqual(new Set(later.released.map(({ text }) => text)), new Set(['after']));
  });

  test('returns unreleased batches again as suspect', async () => {
    for (const text of ['one', 'two']) await queue.append(write(text, 'metrics/1'), owner('a'));
    const { taken } = sink(queue, { releases: false, limits: { maxRows: 1, maxBytes: 1000 } });
    await untilCount(taken, 1);
    assert.equal(taken[0]!.text, 'one');
    const first = taken[0]!.batch;
    await reopen();
    await queue.append(write('three', 'metrics/1'), owner('a'));
    const { released } = sink(queue);
    await untilCount(released, 3);
    assert.deepEqual(
      released.map(({ text }) => text),
      ['one', 'two', 'three'],
    );
    assert.deepEqual(released[0]!.batch.id, first.id);
    assert.equal(released[0]!.suspect, true);
    const at = released[0]!.batch.receivedAtNanos;
    const { copies } = released[0]!.batch;
    const span = copies ?? { fromNanos: at, untilNanos: at };
    assert.ok(span.fromNanos <= first.receivedAtNanos && first.receivedAtNanos <= span.untilNanos);
  });

  test('releases a part of the taken batches', async () => {
    for (const text of ['one', 'two', 'three']) {
      await queue.append(write(text, 'metrics/1'), owner('a'));
    }
    const shards: Shard[] = [];
    const work = queue.work((shard) => {
      shards.push(shard);
      return { close: async () => {} };
    });
    const shard = await until(() => shards.find((each) => each.backlog().rows === 3), {
      what: 'a shard with three rows',
    });
    const taken = await shard.take({ maxRows: 3, maxBytes: 1000 });
    assert.equal(taken?.batches.length, 3);
    assert.equal(taken.bytes, shard.backlog().bytes);
    await shard.release(taken.batches.slice(0, 2));
    assert.equal(shard.backlog().rows, 1);
    await work.close();
    await reopen();
    const { released } = sink(queue);
    await untilCount(released, 1);
    assert.deepEqual(
      released.map(({ text }) => text),
      ['three'],
    );
  });

  test('the watermark and the newest receive times cover released batches only', async () => {
    let passed = 0n;
    const { released, taken } = sink(queue, {
      took: async (batches) => {
        for (const { receivedAtNanos } of batches) assert.ok(receivedAtNanos > passed);
        await nextTurn();
      },
    });
    let isDone = false;
    const watching = (async () => {
      while (!isDone) {
        const watermark = queue.watermarkNanos();
        assert.ok(watermark >= passed);
        passed = watermark;
        checkReceipts(queue, released, watermark);
        await nextTurn();
      }
    })();
    const senders = ['a', 'b', 'c'].map(async (stream) => {
      for (let index = 0; index < 40; index++) {
        await queue.append(write(`${stream} ${index}`), owner(stream));
      }
    });
    await Promise.all(senders);
    await untilCount(released, 120);
    const newest = released.reduce((latest, { batch }) => {
      return batch.receivedAtNanos > latest ? batch.receivedAtNanos : latest;
    }, 0n);
    await until(() => queue.watermarkNanos() >= newest, { what: 'the watermark to pass all' });
    checkReceipts(queue, released, queue.watermarkNanos());
    const quiet = queue.watermarkNanos();
    await until(() => queue.watermarkNanos() > quiet, { what: 'an idle watermark to advance' });
    isDone = true;
    await watching;
    assert.equal(taken.length, 120);
  });

  test('an unreleased batch holds the watermark back', async () => {
    const { taken } = sink(queue, { releases: false });
    await queue.append(write('stuck'), owner('a'));
    await untilCount(taken, 1);
    const { receivedAtNanos } = taken[0]!.batch;
    await queue.append(write('later'), owner('a'));
    assert.ok(queue.watermarkNanos() < receivedAtNanos);
  });

  test('a cutoff separates earlier from later appends', async () => {
    const { released } = sink(queue);
    const append = (text: string) =>
      Promise.all(['a', 'b', 'c'].map((stream) => queue.append(write(text), owner(stream))));
    await append('before');
    const cutoff = await queue.receiptCutoff();
    assert.equal(cutoff % nanosPerSecond, 999n * nanosPerMs);
    await append('after');
    await untilCount(released, 6);
    for (const each of released) {
      const { receivedAtNanos } = each.batch;
      if (each.text === 'before') assert.ok(receivedAtNanos <= cutoff);
      else assert.ok(receivedAtNanos >= cutoff + nanosPerMs);
    }
  });

  test('recalls the answer of a durable batch', async () => {
    const record = {
      key: randomBytes(16),
      bodyDigest: randomBytes(16),
      answer: Buffer.from('{"accepted":1}'),
    };
    assert.equal(await queue.recall(record.key), undefined);
    await queue.append(write('once'), owner('a'), record);
    for (let round = 0; round < 2; round++) {
      const recalled = await queue.recall(record.key);
      assert.deepEqual(Buffer.from(recalled!.answer), record.answer);
      assert.deepEqual(Buffer.from(recalled!.bodyDigest), record.bodyDigest);
      await reopen();
    }
  });

  test('counts a quarantined batch, which blocks nothing', async () => {
    const { released } = sink(queue, {
      took: async (batches, shard) => {
        for (const batch of batches) {
          const isBad = Buffer.from(batch.payload).toString().startsWith('bad');
          if (isBad) await shard.quarantine(batch, 'the store\nwill not take it');
        }
      },
    });
    await queue.append(write('bad', 'metrics/1', 2_500_000), owner('a'));
    await queue.append(write('good', 'metrics/1'), owner('a'));
    await untilCount(released, 2);
    await until(() => queue.status().quarantinedBatches > 0, { what: 'a batch in quarantine' });
    await reopen();
    await until(() => queue.status().quarantinedBatches > 0, { what: 'it to be counted again' });
  });

  test('reports the backlog, which is empty in the end', async () => {
    await queue.append(write('waiting', 'logs/1', 1000), owner('a'));
    await until(() => queue.status().batches > 0, { what: 'a batch to be delivered' });
    assert.ok(queue.status().bytes >= 1000);
    assert.equal(queue.status().writable, true);
    sink(queue);
    await until(() => queue.status().batches === 0, { what: 'the queue to be empty' });
    assert.equal(queue.status().bytes, 0);
  });

  test('begins work on each shard once, and ends it on close', async () => {
    const opened = sink(queue);
    await until(() => opened.shards.length === place.shards, { what: 'every shard' });
    const tokens = opened.shards.map(({ fencingToken }) => fencingToken);
    const epochs = new Map(tokens.map(({ shard, epoch }) => [shard, epoch]));
    assert.equal(epochs.size, place.shards);
    assert.equal(opened.shards.filter(({ isFirst }) => isFirst).length, 1);
    await reopen();
    for (const shard of opened.shards) {
      assert.equal(await shard.take({ maxRows: 1, maxBytes: 1 }), undefined);
    }
    const again = sink(queue);
    await until(() => again.shards.length === place.shards, { what: 'every shard again' });
    for (const { fencingToken } of again.shards) {
      assert.ok(fencingToken.epoch >= epochs.get(fencingToken.shard)!);
    }
  });

  test('notifies listeners when labels of series may have been deleted', async () => {
    let heard = 0;
    queue.whenSeriesForgotten(() => heard++);
    await queue.forgetSeries();
    assert.equal(heard, 1);
  });
}

export function owner(streamId: string): BatchOwner {
  return { accountId: 'account', streamId, receiverId: 'receiver' };
}

export function write(text: string, layout: Layout = 'logs/1', bytes = Buffer.byteLength(text)) {
  // The queue owns the payload's whole buffer.
  const payload = Buffer.from(new ArrayBuffer(bytes));
  payload.write(text);
  return { layout, rows: 1, payload };
}

export async function untilCount(sunk: readonly Sunk[], count: number): Promise<void> {
  await until(() => sunk.length >= count, { what: `${count} batches` });
  assert.equal(sunk.length, count);
}

function checkReceipts(queue: Queue, released: readonly Sunk[], watermark: bigint): void {
  for (const { batch } of released) {
    if (batch.receivedAtNanos > watermark) continue;
    assert.ok(queue.newestReceiptNanos(batch.owner.streamId) >= batch.receivedAtNanos);
    assert.ok(queue.newestReceiptNanos(undefined) >= batch.receivedAtNanos);
  }
}
