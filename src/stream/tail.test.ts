/** The tail over a store that is an array: each log once, in order of arrival. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { Stream } from '../model/account.ts';
import {
  type ArrivalPosition,
  type ArrivalRange,
  arrivalsUntil,
  type ArrivedLog,
  decodeArrival,
} from '../model/arrival.ts';
import { AppError } from '../model/errors.ts';
import { parseQuery } from '../std/parse-query.ts';
import type { LogRecord } from '../model/plan.ts';
import { createInstruments } from '../telemetry/instruments.ts';
import { createTailEvents } from '../telemetry/request-events.ts';
import { tailQuery } from './requests.ts';
import { createTail, type TailOptions } from './tail.ts';

const nowMs = Date.parse('2026-04-01T00:00:00Z');
const second = 1_000_000_000n;
const start = BigInt(nowMs) * 1_000_000n;

interface Event {
  readonly name: string;
  readonly id: string;
  readonly data: Record<string, unknown>;
}

/** With minimal waits. */
const hasty = {
  pollEveryMs: 1,
  tailHeartbeatMs: 10,
  recheckMs: 5,
  minReadIntervalMs: 0,
  maxPageLogs: 7,
} satisfies Partial<TailOptions>;

/** A service that consists of a clock, a store and the progress of the drain. */
class World {
  clock = start;
  watermark = start;
  readonly rows: ArrivedLog[] = [];
  readonly streams: Stream[] = [stream('a')];
  readonly newest = new Map<string | undefined, bigint>();
  reads = 0;
  /** Of the last read. */
  readStreams: readonly string[] = [];
  counts = 0;
  failure: Error | undefined;
  hanging: Promise<void> | undefined;
  #sequence = 0n;
  readonly #tail;

  constructor(options: Partial<TailOptions> = {}) {
    const parts = {
      store: {
        arrivals: async (plan: ArrivalRange & { readonly limit: number }) => {
          this.reads++;
          this.readStreams = plan.filter.streams.map(({ streamId }) => streamId);
          await this.hanging;
          if (this.failure !== undefined) throw this.failure;
          const found = this.#within(plan);
          const logs = found.slice(0, plan.limit);
          return { logs, isComplete: logs.length < plan.limit };
        },
        countArrivals: async (range: ArrivalRange) => {
          this.counts++;
          await this.hanging;
          return this.#within(range).length;
        },
      },
      // Returns a new array for each call, like the directory.
      grants: { streams: async () => [...this.streams] },
      watermarkNanos: () => this.watermark,
      newestReceiptNanos: (streamId: string | undefined) => this.newest.get(streamId) ?? 0n,
      now: () => nowMs,
      telemetry: createTailEvents(createInstruments('silent')),
    };
    this.#tail = createTail(parts, { ...hasty, maxTails: 1000, ...options });
  }

  /** Stores a batch; it counts as released once the watermark has passed it. */
  store(rows: number, streamId = 'a', afterNanos = 1n): void {
    this.clock += afterNanos;
    const batch = (9n << 64n) | this.#sequence++;
    for (let row = 0; row < rows; row++) {
      const position = { receivedAtNanos: this.clock, batch, row };
      const log = { logId: `${batch & 0xffffn}/${row}`, streamId } as LogRecord;
      this.rows.push({ position, log });
    }
    this.newest.set(streamId, this.clock).set(undefined, this.clock);
  }

  release(): void {
    this.watermark = this.clock;
  }

  follow(query = '', asked: Partial<Asked> = {}) {
    const { after, signal = new AbortController().signal, recheck = async () => {} } = asked;
    return this.#tail.follow({
      accountId: 'acme',
      query: parseQuery(tailQuery, new URLSearchParams(query)),
      after,
      signal,
      recheck,
    });
  }

  #within({ filter, after, untilNanos }: ArrivalRange): ArrivedLog[] {
    const ids = filter.streams.map(({ streamId }) => streamId);
    return this.rows.filter(
      ({ position, log }) =>
        ids.includes(log.streamId) &&
        isAfter(position, after) &&
        position.receivedAtNanos <= untilNanos,
    );
  }
}

interface Asked {
  readonly after: ArrivalPosition;
  readonly signal: AbortSignal;
  readonly recheck: () => Promise<void>;
}

function stream(streamId: string): Stream {
  const kept = { retentionDays: 30, downsampling: null, dataDeletedUntil: null, createdAt: '' };
  return { streamId, accountId: 'acme', name: streamId, ...kept };
}

function isAfter(a: ArrivalPosition, b: ArrivalPosition): boolean {
  if (a.receivedAtNanos !== b.receivedAtNanos) return a.receivedAtNanos > b.receivedAtNanos;
  return a.batch === b.batch ? a.row > b.row : a.batch > b.batch;
}

/** Yields single events; a chunk may contain several. */
async function* eventsOf(chunks: AsyncGenerator<Uint8Array | string>): AsyncGenerator<Event> {
  for await (const chunk of chunks) {
    for (const text of Buffer.from(chunk).toString().split('\n\n').slice(0, -1)) {
      const [, name = '', id = '', data = ''] =
        /^event: (\w+)\n(?:id: (\S+)\n)?data: (.*)$/.exec(text) ?? [];
      yield { name, id, data: JSON.parse(data) as Event['data'] };
    }
  }
}

async function until(events: AsyncGenerator<Event>, name: string): Promise<Event> {
  for (;;) {
    const next = await events.next();
    assert.ok(next.done !== true, `it ended before ${name}`);
    if (next.value.name === name) return next.value;
  }
}

const idsOf = (rows: readonly ArrivedLog[]) => rows.map(({ log }) => log.logId);

test('begins now and sends its position', async () => {
  const world = new World();
  world.store(3);
  world.release();
  const events = eventsOf(world.follow());
  const opened = (await events.next()).value as Event;
  assert.equal(opened.name, 'open');
  assert.deepEqual(decodeArrival(opened.id), arrivalsUntil(start + 1n));
  assert.deepEqual(opened.data, { watermark: '2026-04-01T00:00:00.000Z' });
  world.store(1);
  world.release();
  assert.equal((await until(events, 'log')).data['logId'], '1/0');
  await events.return(undefined);
});

test('does not query the store while no logs arrive', async () => {
  const world = new World();
  const events = eventsOf(world.follow());
  for (let beat = 0; beat < 3; beat++) {
    world.clock += second;
    world.release();
    await until(events, 'heartbeat');
  }
  const last = await until(events, 'heartbeat');
  assert.deepEqual(decodeArrival(last.id), arrivalsUntil(world.watermark));
  assert.equal(world.reads, 0);
  world.store(1, 'of another account');
  world.release();
  await until(events, 'heartbeat');
  assert.equal(world.reads, 0);
  await events.return(undefined);
});

test('reads only streams with logs after its position', async () => {
  const world = new World();
  world.streams.push(stream('b'), stream('c'));
  world.store(1, 'a');
  world.release();
  const events = eventsOf(world.follow());
  await until(events, 'heartbeat');
  world.store(1, 'b');
  world.release();
  assert.equal((await until(events, 'log')).data['streamId'], 'b');
  assert.deepEqual(world.readStreams, ['b']);
  await events.return(undefined);
});

test('sends each log once and in order across reconnects', async () => {
  const step = fc.record({
    batches: fc.array(
      fc.record({
        rows: fc.integer({ min: 1, max: 9 }),
        streamId: fc.constantFrom('a', 'b', 'c'),
      }),
      { maxLength: 3 },
    ),
    isReleased: fc.boolean(),
    /** Events read before the connection breaks. */
    events: fc.integer({ min: 1, max: 12 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
      const world = new World({ tailHeartbeatMs: 1 });
      world.streams.push(stream('b'), stream('c'));
      const seen: unknown[] = [];
      let after: ArrivalPosition | undefined = arrivalsUntil(start);
      const take = async (events: AsyncGenerator<Event>) => {
        const { name, id, data } = (await events.next()).value as Event;
        if (name === 'log') seen.push(data['logId']);
        after = decodeArrival(id);
        return after!;
      };
      for (const { batches, isReleased, events: count } of steps) {
        for (const { rows, streamId } of batches) world.store(rows, streamId);
        if (isReleased) world.release();
        const events = eventsOf(world.follow('', { after }));
        for (let i = 0; i < count; i++) await take(events);
        await events.return(undefined);
      }
      world.release();
      const events = eventsOf(world.follow('', { after }));
      while ((await take(events)).receivedAtNanos < world.clock);
      while ((await take(events)).batch !== arrivalsUntil(0n).batch);
      await events.return(undefined);
      assert.deepEqual(seen, idsOf(world.rows));
    }),
    { numRuns: 60 },
  );
});

suite('a reader far behind', () => {
  test('gets the number of dropped logs, and the logs after them', async () => {
    const world = new World();
    const events = eventsOf(world.follow('maxLagSeconds=10'));
    await until(events, 'open');
    // A minute without reads.
    for (let i = 0; i < 60; i++) world.store(2, 'a', second);
    world.release();
    const { data, id } = await until(events, 'dropped');
    const from = '2026-04-01T00:00:00.000Z';
    assert.deepEqual(data, { count: 110, fromTime: from, untilTime: '2026-04-01T00:00:55.000Z' });
    assert.deepEqual(decodeArrival(id), arrivalsUntil(start + 55n * second));
    const rest: unknown[] = [];
    while (rest.length < 10) rest.push((await until(events, 'log')).data['logId']);
    assert.deepEqual(rest, idsOf(world.rows.slice(110)));
    await events.return(undefined);
  });

  test('loses nothing while nothing newer is stored', async () => {
    const world = new World();
    world.store(3, 'a', second);
    world.clock += 3600n * second;
    world.release();
    const events = eventsOf(world.follow('maxLagSeconds=10', { after: arrivalsUntil(start) }));
    assert.equal((await until(events, 'log')).data['logId'], '0/0');
    assert.equal(world.counts, 0);
    await events.return(undefined);
  });

  test('loses nothing after a restart while nothing newer is stored', async () => {
    const world = new World();
    for (let i = 0; i < 5; i++) world.store(1, 'a', second);
    world.newest.clear();
    world.clock += 3600n * second;
    world.release();
    const events = eventsOf(world.follow('maxLagSeconds=10', { after: arrivalsUntil(start) }));
    await until(events, 'open');
    for (const id of idsOf(world.rows)) {
      const { name, data } = (await events.next()).value as Event;
      assert.deepEqual([name, data['logId']], ['log', id]);
    }
    await events.return(undefined);
  });
});

test('sends logs of a stream created meanwhile', async () => {
  const world = new World({ recheckMs: 60_000 });
  const events = eventsOf(world.follow());
  await until(events, 'heartbeat');
  world.streams.push(stream('b'));
  world.store(1, 'b');
  world.release();
  assert.equal((await until(events, 'log')).data['streamId'], 'b');
  await events.return(undefined);
});

suite('the last event', () => {
  test('is end when the service closes', async () => {
    const world = new World();
    const leaving = new AbortController();
    const events = eventsOf(world.follow('', { signal: leaving.signal }));
    await until(events, 'heartbeat');
    leaving.abort();
    assert.deepEqual(decodeArrival((await until(events, 'end')).id), arrivalsUntil(start));
    assert.equal((await events.next()).done, true);
  });

  test('has the position of the last log that was sent', async () => {
    const world = new World();
    world.store(1);
    world.release();
    const leaving = new AbortController();
    const after = arrivalsUntil(start);
    const events = eventsOf(world.follow('', { after, signal: leaving.signal }));
    await until(events, 'open');
    leaving.abort();
    const { name, id } = (await events.next()).value as Event;
    assert.deepEqual([name, decodeArrival(id)], ['end', after]);
  });

  test('is error when the token is revoked', async () => {
    const world = new World();
    let isRevoked = false;
    const recheck = async () => {
      if (isRevoked) throw new AppError('unauthenticated', 'cannot use this token: revoked');
    };
    const events = eventsOf(world.follow('', { recheck }));
    await until(events, 'heartbeat');
    isRevoked = true;
    const { data } = await until(events, 'error');
    assert.deepEqual(data, {
      type: 'urn:weir:problem:unauthenticated',
      status: 401,
      code: 'unauthenticated',
      title: 'not authenticated',
      detail: 'cannot use this token: revoked',
    });
    world.store(1);
    world.release();
    assert.equal((await events.next()).done, true);
  });

  test('is error with retryAfterSeconds when the store is unavailable', async () => {
    const world = new World();
    const events = eventsOf(world.follow());
    await until(events, 'open');
    world.failure = new AppError('unavailable', 'cannot reach the store', { retryAfterSeconds: 2 });
    world.store(1);
    world.release();
    const { data } = await until(events, 'error');
    assert.deepEqual([data['status'], data['retryAfterSeconds']], [503, 2]);
    assert.equal((await events.next()).done, true);
  });

  test('hides the cause of an internal error', async () => {
    const world = new World();
    const events = eventsOf(world.follow());
    await until(events, 'open');
    world.failure = new TypeError('secret');
    world.store(1);
    world.release();
    const { data } = await until(events, 'error');
    assert.equal(data['code'], 'internal');
    assert.doesNotMatch(JSON.stringify(data), /secret/);
  });
});

suite('a failure before the first event is thrown', () => {
  test('for an unavailable store on resume', async () => {
    const world = new World();
    world.store(1);
    world.release();
    world.failure = new AppError('unavailable', 'cannot reach the store');
    const events = world.follow('', { after: arrivalsUntil(start) });
    await assert.rejects(events.next(), /cannot reach the store/);
  });

  test('for an unknown stream', async () => {
    const query = 'streamId=00000000-0000-4000-8000-00000000000f';
    await assert.rejects(new World().follow(query).next(), { code: 'not_found' });
  });

  test('for a tail over the limit, until another one closes', async () => {
    const world = new World({ maxTails: 1 });
    const first = world.follow();
    await first.next();
    await assert.rejects(world.follow().next(), /raise stream\.maxTails/);
    await first.return(undefined);
    const second_ = world.follow();
    assert.equal((await second_.next()).done, false);
    await second_.return(undefined);
  });
});

test('a position past the watermark begins at the watermark', async () => {
  const world = new World();
  const future = arrivalsUntil(start + 999n * second);
  const events = eventsOf(world.follow('', { after: future }));
  assert.deepEqual(decodeArrival((await until(events, 'open')).id), arrivalsUntil(start));
  world.store(1);
  world.release();
  assert.equal((await until(events, 'log')).data['logId'], '0/0');
  await events.return(undefined);
});

test('tails with equal plans share one read of the store', async () => {
  const world = new World({ tailHeartbeatMs: 60_000, recheckMs: 60_000 });
  const tails = Array.from({ length: 50 }, () => eventsOf(world.follow()));
  await Promise.all(tails.map((events) => until(events, 'open')));
  const logs = tails.map((events) => until(events, 'log'));
  await new Promise((resolve) => setImmediate(resolve));
  world.store(1);
  world.release();
  await Promise.all(logs);
  assert.ok(world.reads < 5, `${world.reads} reads`);
  await Promise.all(tails.map((events) => events.return(undefined)));
});

test('does not count for tails that have left', async () => {
  const world = new World({ maxQueries: 1 });
  world.store(1, 'a', 3600n * second);
  world.release();
  const { promise: hanging, resolve: answer } = Promise.withResolvers<void>();
  world.hanging = hanging;
  const after = arrivalsUntil(start);
  const first = world.follow('', { after }).next();
  for (let i = 0; i < 20; i++) {
    const leaving = new AbortController();
    const other = world.follow(`host=${i}`, { after, signal: leaving.signal }).next();
    await new Promise((resolve) => setImmediate(resolve));
    leaving.abort();
    await other;
  }
  world.hanging = undefined;
  answer();
  await first;
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(world.counts, 1);
});

test('does not read for tails that have left', async () => {
  const world = new World({ maxQueries: 1 });
  world.store(1);
  world.release();
  const { promise: hanging, resolve: answer } = Promise.withResolvers<void>();
  world.hanging = hanging;
  const leaving = new AbortController();
  const { signal } = leaving;
  const after = arrivalsUntil(start);
  const first = world.follow('', { after }).next();
  await new Promise((resolve) => setImmediate(resolve));
  const others = ['x', 'y'].map((host) => world.follow(`host=${host}`, { after, signal }).next());
  await until(eventsOf(world.follow()), 'heartbeat');
  leaving.abort();
  await Promise.all(others);
  answer();
  await first;
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(world.reads, 1);
});
