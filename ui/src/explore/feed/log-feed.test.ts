/** Feed of the list: paging, opening the tail before listing, and failures of both. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Log } from '../../api/models.ts';
import { ApiProblem } from '../../api/problem.ts';
import { type FeedState, LogFeed, type LogSource, type PageRequest } from './log-feed.ts';
import type { OpenTail } from './tail-news.ts';

test('loads pages until one is short', async () => {
  const { feed, asked } = await started({ stored: 900 });
  assert.equal(feed.current().rows.length, 200);
  assert.equal(feed.current().phase, 'ready');
  feed.loadMore();
  feed.loadMore();
  await settled(feed);
  assert.equal(feed.current().rows.length, 700);
  feed.loadMore();
  await settled(feed);
  assert.equal(feed.current().phase, 'complete');
  assert.deepEqual(ids(feed.current()), idsBelow(900));
  feed.loadMore();
  assert.deepEqual(
    asked.map(({ limit, cursor, hasEnd }) => [limit, cursor?.logId, hasEnd]),
    [
      [200, undefined, true],
      [500, idOf(700), true],
      [500, idOf(200), true],
    ],
  );
});

test('keeps loaded rows when a page fails, and retries on request only', async () => {
  const { feed, source } = await started({ stored: 900 });
  source.failure = new ApiProblem(503, { detail: 'busy' });
  feed.loadMore();
  await settled(feed);
  assert.equal(feed.current().phase, 'failed');
  assert.equal(feed.current().error, source.failure);
  assert.equal(feed.current().rows.length, 200);
  source.failure = undefined;
  feed.loadMore();
  assert.equal(feed.current().phase, 'failed');
  feed.retry();
  await settled(feed);
  assert.equal(feed.current().rows.length, 700);
});

test('requests smaller pages when logs are long', async () => {
  const { feed, asked } = await started({ stored: 900, message: 'x'.repeat(99_000) });
  feed.loadMore();
  await settled(feed);
  assert.equal(asked[1]?.limit, 20);
});

test('shows the rows of the previous run until its first page arrives', async () => {
  const earlier = [log(5000)];
  const feed = new LogFeed(new Source(3), earlier);
  const end = feed.start({ isLive: false });
  assert.deepEqual([feed.current().rows, feed.current().isStale], [earlier, true]);
  await settled(feed);
  assert.deepEqual([ids(feed.current()), feed.current().isStale], [idsBelow(3), false]);
  end();
});

test('opens the tail before it lists, and shows each log once', async () => {
  const { feed, source, asked, end } = await started({ stored: 10, isLive: true });
  assert.deepEqual(source.calls.slice(0, 2), ['tail', 'list']);
  assert.equal(asked[0]?.hasEnd, false);
  source.arrive(log(9), log(10));
  await until(feed, ({ rows }) => rows.length === 11);
  assert.deepEqual(ids(feed.current()), idsBelow(11));
  end();
});

test('holds new logs while paused or scrolled down', async () => {
  const { feed, source, end } = await started({ stored: 10, isLive: true });
  feed.pause();
  source.arrive(log(10));
  await until(feed, ({ heldCount }) => heldCount === 1);
  assert.equal(feed.current().rows.length, 10);
  feed.resume();
  assert.deepEqual(ids(feed.current()), idsBelow(11));
  feed.setReading(true);
  source.arrive(log(11));
  await until(feed, ({ heldCount }) => heldCount === 1);
  feed.setReading(false);
  assert.deepEqual(ids(feed.current()), idsBelow(12));
  end();
});

test('keeps its rows, including held ones, when live mode ends', async () => {
  const { feed, source, end } = await started({ stored: 10, isLive: true });
  feed.pause();
  source.arrive(log(10));
  await until(feed, ({ heldCount }) => heldCount === 1);
  feed.setLive({ isLive: false });
  assert.equal(feed.current().connection, 'off');
  assert.deepEqual(ids(feed.current()), idsBelow(11));
  end();
});

test('loads no page below rows that were dropped for held ones', async () => {
  for (const leave of ['resume', 'stop']) {
    const { feed, source, asked, end } = await started({ stored: 900, isLive: true });
    feed.pause();
    source.arrive(...Array.from({ length: 9_900 }, (_, index) => log(900 + index)));
    await until(feed, ({ heldCount }) => heldCount === 9_900);
    if (leave === 'resume') feed.resume();
    feed.setLive({ isLive: false });
    assert.deepEqual(ids(feed.current()), idsBelow(10_800).slice(0, 10_000));
    assert.equal(feed.current().phase, 'full');
    feed.loadMore();
    assert.equal(asked.length, 1);
    end();
  }
});

test('lists stored logs when the tail is refused, and reports the reason', async () => {
  const source = new Source(10);
  source.refusal = new ApiProblem(403, { detail: 'no scope' });
  const { feed, end } = await started({ source, isLive: true });
  assert.equal(feed.current().connection, 'refused');
  assert.equal(feed.current().connectionError, source.refusal);
  assert.equal(feed.current().rows.length, 10);
  end();
});

/** Logs numbered from 0, the oldest, and a scripted tail. */
class Source implements LogSource {
  readonly stored: number;
  readonly message: string;
  readonly asked: PageRequest[] = [];
  readonly calls: string[] = [];
  failure: Error | undefined;
  refusal: Error | undefined;
  #tail: ReadableStreamDefaultController<Uint8Array> | undefined;

  constructor(stored: number, message = '') {
    this.stored = stored;
    this.message = message;
  }

  readonly list: LogSource['list'] = async (request) => {
    this.calls.push('list');
    this.asked.push(request);
    if (this.failure !== undefined) throw this.failure;
    const { cursor, limit } = request;
    const below = cursor === undefined ? this.stored : Number(cursor.logId);
    const logs = Array.from({ length: Math.min(limit, below) }, (_, index) => ({
      ...log(below - 1 - index),
      message: this.message,
    }));
    const end = { timestamp: '', logId: logs.at(-1)?.logId ?? '' };
    return { logs, cursor: end, newest: end, scannedRows: 0 };
  };

  readonly openTail: OpenTail = (_lastEventId, signal) => {
    this.calls.push('tail');
    if (this.refusal !== undefined) return Promise.reject(this.refusal);
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#tail = controller;
        signal.addEventListener('abort', () => controller.error(signal.reason));
        this.#write('open', {});
      },
    });
    return Promise.resolve(new Response(body));
  };

  arrive(...logs: Log[]): void {
    for (const one of logs) this.#write('log', one);
  }

  #write(name: string, data: object): void {
    const event = `event: ${name}\nid: 1\ndata: ${JSON.stringify(data)}\n\n`;
    this.#tail?.enqueue(new TextEncoder().encode(event));
  }
}

interface Start {
  readonly stored?: number;
  readonly message?: string;
  readonly isLive?: boolean;
  readonly source?: Source;
}

async function started({ stored = 0, message, isLive = false, source: given }: Start) {
  const source = given ?? new Source(stored, message);
  const feed = new LogFeed(source);
  const end = feed.start({ isLive });
  await settled(feed);
  return { feed, source, asked: source.asked, end };
}

function settled(feed: LogFeed): Promise<void> {
  return until(feed, ({ phase }) => phase !== 'loading');
}

function until(feed: LogFeed, isSo: (state: FeedState) => boolean): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const look = () => {
    if (isSo(feed.current())) resolve();
  };
  const stop = feed.subscribe(look);
  look();
  return promise.finally(stop);
}

function log(index: number): Log {
  return { logId: idOf(index), timestamp: '', message: '', labels: {} } as unknown as Log;
}

function idOf(index: number): string {
  return String(index).padStart(6, '0');
}

function ids({ rows }: FeedState): string[] {
  return rows.map(({ logId }) => logId);
}

function idsBelow(count: number): string[] {
  return Array.from({ length: count }, (_, index) => idOf(count - 1 - index));
}
