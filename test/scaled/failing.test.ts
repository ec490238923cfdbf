/**
 * Outages under load: each server refuses, hangs, is slow, or is cut off in the middle of a
 * response. One set, one fault at a time; the set must recover by itself in between.
 */
import assert from 'node:assert/strict';
import { after, afterEach, before, suite, test } from 'node:test';
import { readAll } from '../crash/run.ts';
import { judge } from '../crash/verdict.ts';
import { createIngestToken, createReceiver } from '../harness/control.ts';
import { callGrpc } from '../compliance/grpc-call.ts';
import { bytesField, text as textField } from '../harness/proto-wire.ts';
import { Service } from '../harness/service.ts';
import { until } from '../harness/until.ts';
import { type Follower, followTail, pollSince, type TailFollower } from './failing-followers.ts';
import {
  type Background,
  createControls,
  createReaders,
  createSenders,
  isOrderly,
  type Outcome,
  type Reader,
  type Sender,
  startBackground,
  toOutcome,
} from './failing-traffic.ts';
import type { FaultProxy } from './fault-proxy.ts';
import { toServiceNodes } from './scaled-nodes.ts';
import { missingServers, openScaledSet, type ScaledSet } from './scaled-set.ts';
import type { SetNetwork } from './set-servers.ts';

// Known tokens are valid for a minute without the directory: on a busy machine a round takes long.
const flags = [
  ['--queue-lease-seconds', '3'],
  ['--queue-shards', '2'],
  ['--queue-max-backlog-bytes', String(16 * 1024 * 1024)],
  ['--stream-tail-heartbeat-ms', '1000'],
  // A busy machine must not look like an unavailable Redis.
  ['--quota-timeout-ms', '1000'],
].flat();

/** Expected log messages during an outage. */
const expectedErrors = [/^(?!.*(?:TypeError|RangeError|ReferenceError|AssertionError))/];

const servers = ['directory', 'quota', 'queue', 'store'] as const;
type Part = (typeof servers)[number] & keyof SetNetwork;

const slowMs = 1_500;

/** An OTLP export with one log. */
const oneLog = bytesField(1, bytesField(2, bytesField(2, bytesField(5, textField(1, 'never')))));

suite('outages', { skip: missingServers() }, () => {
  let set: ScaledSet;
  let service: Service;
  let limited: readonly Sender[];
  let free: readonly Sender[];
  let readers: readonly Reader[];
  let controls: readonly Reader[];
  let background: Background;
  let poller: Follower;
  let tail: TailFollower;
  let unknownTokens = 0;
  let fillers = 0;

  before(async () => {
    set = await openScaledSet({ gateways: 1, network: 'proxied', flags });
    service = new Service(toServiceNodes(set), { expectedErrors });
    await service.start();
    await set.ready();
    free = createSenders(service);
    const receiver = await createReceiver(service, {
      name: 'with a quota',
      limits: { eventsPerSecond: 100_000, burstEvents: null, maxBodyBytes: null },
    });
    const { token } = await createIngestToken(service, receiver.receiverId);
    const { ingestUrl, receivers } = service.quickstart;
    const url = `${ingestUrl}/v1/receivers/${receiver.receiverId}/logs`;
    const http_json = { receiverId: receiver.receiverId, url, token };
    limited = createSenders(service, { ...receivers, http_json }, 100).slice(0, 2);
    readers = createReaders(service);
    controls = createControls(service);
    [poller, tail] = await Promise.all([pollSince(service), followTail(service)]);
    await untilWell('at the beginning');
    background = startBackground([...free, ...limited], readers);
  });
  // Also after a failure, which must not make the next test fail.
  afterEach(() => Promise.all(servers.map((part) => proxyOf(part).pass())));
  after(async () => {
    try {
      await background?.stop();
      await Promise.all([poller?.stop(), tail?.stop()]);
    } finally {
      // A node left running would keep the process alive.
      await service?.stop();
    }
  });

  const proxyOf = (part: Part): FaultProxy => set.servers.network![part];

  /** A token that no node has cached. */
  function sendUnknown(): Promise<Outcome> {
    return toOutcome('unknown token', async () => {
      unknownTokens += 1;
      const { status, headers } = await service.postLogs(
        { message: 'never' },
        { authorization: `Bearer wri_${'a'.repeat(40)}${unknownTokens}` },
      );
      return { end: status, retryAfter: headers['retry-after'] };
    });
  }

  interface Round {
    readonly free: readonly Outcome[];
    readonly limited: readonly Outcome[];
    readonly reads: readonly Outcome[];
    readonly control: readonly Outcome[];
    readonly unknown: readonly Outcome[];
  }

  /** One request of each kind, concurrently. */
  async function round(): Promise<Round> {
    const send = (each: Sender) => each.send();
    const read = (each: Reader) => each.read();
    const [one, two, three, four, five] = await Promise.all([
      Promise.all(free.map(send)),
      Promise.all(limited.map(send)),
      Promise.all(readers.map(read)),
      Promise.all(controls.map(read)),
      sendUnknown(),
    ]);
    return { free: one, limited: two, reads: three, control: four, unknown: [five] };
  }

  /** Results by group, if all of a group agree. */
  function ends(of: Round): Readonly<Record<keyof Round, number | string>> {
    const one = (outcomes: readonly Outcome[]) => {
      const different = new Set(outcomes.map(({ end }) => end));
      if (different.size === 1) return outcomes[0]!.end;
      return outcomes.map(({ name, end }) => `${name}: ${end}`).join(', ');
    };
    const { free: a, limited: b, reads, control, unknown } = of;
    const joined = { free: one(a), limited: one(b), reads: one(reads) };
    return { ...joined, control: one(control), unknown: one(unknown) };
  }

  const well = { free: 200, limited: 200, reads: 200, control: 200, unknown: 401 };

  /** In every outage: each request is answered, by success or 503 with its header. */
  async function orderlyRound(): Promise<Round> {
    const done = await round();
    const all = Object.values(done).flat() as Outcome[];
    const odd = all.filter((each) => !isOrderly(each) && each.name !== 'unknown token');
    assert.deepEqual(odd, []);
    const [unknown] = done.unknown;
    assert.ok(unknown!.end === 401 || isOrderly({ ...unknown!, name: '' }), `${unknown!.end}`);
    return done;
  }

  async function untilEnds(wanted: Readonly<Record<keyof Round, number>>, when: string) {
    let last: unknown;
    const isSo = async () => {
      const now = ends(await orderlyRound());
      last = now;
      return JSON.stringify(now) === JSON.stringify(wanted);
    };
    await until(isSo, { what: when, timeoutMs: 120_000 }).catch((error: unknown) => {
      throw new Error(`${String(error)}; it is ${JSON.stringify(last)}`);
    });
  }

  async function untilWell(when: string): Promise<void> {
    let last = {};
    const isSo = async () => {
      const now = await round();
      last = ends(now);
      return JSON.stringify(last) === JSON.stringify(well);
    };
    await until(isSo, { what: `all to be well ${when}`, timeoutMs: 120_000 }).catch(
      (error: unknown) => {
        throw new Error(`${String(error)}; it is ${JSON.stringify(last)}`);
      },
    );
  }

  /** Senders go on, so some batches are always on their way. */
  async function untilDrained(fullBytes: number): Promise<void> {
    const queued = async () => (await service.metric('weir_queue_bytes')) ?? 0;
    await until(async () => (await queued()) < fullBytes / 10, {
      what: 'the backlog to be drained',
      timeoutMs: 120_000,
    });
  }

  /** Once the outage is known, many requests together take no longer than one that waits. */
  async function isRefusedAtOnce(sender: Sender): Promise<void> {
    const outcomes: Outcome[] = [];
    const startedAt = performance.now();
    for (let i = 0; i < 50; i++) outcomes.push(await sender.send());
    assert.deepEqual(new Set(outcomes.map(({ end }) => end)), new Set([503]));
    // Half of what 50 timeouts of the quota store take, which is the shortest.
    assert.ok(performance.now() - startedAt < 25_000, 'each request waited');
  }

  const isAway: Readonly<Record<Part, Readonly<Record<keyof Round, number>>>> = {
    directory: { ...well, control: 503, unknown: 503 },
    quota: { ...well, limited: 503 },
    queue: { ...well, free: 503, limited: 503 },
    store: { ...well, reads: 503 },
  };

  for (const part of servers) {
    const troubles = {
      'refuses connections': () => proxyOf(part).refuse(),
      'takes connections and is silent': () => proxyOf(part).hold(),
    };
    for (const [trouble, make] of Object.entries(troubles)) {
      test(`the ${part} ${trouble}`, async () => {
        await make();
        try {
          await untilEnds(isAway[part], `the ${part} to be away`);
          if (part === 'quota' || part === 'queue') await isRefusedAtOnce(limited[0]!);
          if (part === 'queue') {
            await deletesNothing();
            await grpcSaysWhen();
            await untilHeartbeat();
          }
        } finally {
          await proxyOf(part).pass();
        }
        await untilWell(`after the ${part} was back`);
      });
    }

    test(`the ${part} takes ${slowMs} ms for each answer`, async () => {
      proxyOf(part).delay(slowMs, 'down');
      for (let i = 0; i < 2; i++) await orderlyRound();
      await proxyOf(part).pass();
      await untilWell(`after the ${part} was fast again`);
    });

    test(`the ${part} is cut off in the middle of a response`, async () => {
      for (const bytes of [1, 40, 300]) {
        const cut = proxyOf(part).cutAfter(bytes, 'down');
        const asked = orderlyRound();
        await Promise.race([cut, asked]);
        await asked;
      }
      for (const bytes of [10, 200]) {
        const cut = proxyOf(part).cutAfter(bytes, 'up');
        const asked = orderlyRound();
        await Promise.race([cut, asked]);
        await asked;
      }
      proxyOf(part).cut();
      await orderlyRound();
      await proxyOf(part).pass();
      await untilWell(`after the ${part} was cut off`);
    });
  }

  test('the directory is unavailable for longer than its cache is valid', async () => {
    await proxyOf('directory').refuse();
    const nothing = { free: 503, limited: 503, reads: 503, control: 503, unknown: 503 };
    await untilEnds(nothing, 'known tokens to have grown too old');
    await proxyOf('directory').pass();
    await untilWell('after the directory was back');
  });

  test('the store is unavailable until the queue is full', async () => {
    await proxyOf('store').refuse();
    for (const size of [200_000, 20_000, 2_000]) {
      await until(() => isFullFor(size), {
        what: 'the queue to be full',
        timeoutMs: 120_000,
        everyMs: 0,
      });
    }
    const bytes = (await service.metric('weir_queue_bytes')) ?? 0;
    assert.ok(bytes > 0);
    await untilEnds({ ...isAway.store, free: 503, limited: 503 }, 'all to be refused');
    await proxyOf('store').pass();
    await untilWell('after the store was back');
    await untilDrained(bytes);
  });

  /** Large ones first: smaller ones fit in the remaining room. */
  async function isFullFor(size: number): Promise<boolean> {
    const { status, text } = await service.postLogs({ message: `filler ${'x'.repeat(size)}` });
    assert.ok([202, 503].includes(status), text);
    if (status === 202) fillers += 1;
    return status === 503;
  }

  test('all at once', async () => {
    await Promise.all(servers.map((part) => proxyOf(part).refuse()));
    await orderlyRound();
    await Promise.all(servers.map((part) => proxyOf(part).pass()));
    await untilWell('after all were back');
  });

  test('everything acknowledged is stored once and reached each follower once', async () => {
    await background.stop();
    assert.deepEqual(background.odd, []);
    const ledgers = [...free, ...limited].map(({ ledger }) => ledger);
    const stored = await readAll(service);
    let storedFillers = 0;
    for (const name of [...stored.keys()].filter((each) => each.startsWith('filler '))) {
      storedFillers += stored.get(name)!;
      stored.delete(name);
    }
    assert.equal(storedFillers, fillers);
    assert.deepEqual(judge(ledgers, stored).faults, []);
    const logs = [...stored].filter(([name]) => !isSample(name));
    for (const [what, follower] of Object.entries({ poller, tail })) {
      const missed = () => logs.filter(([name]) => follower.got.get(name) === undefined);
      // A busy machine delays it; one that gets nothing more is stuck.
      for (let had = -1; missed().length > 0 && follower.got.size > had; ) {
        had = follower.got.size;
        const more = until(() => follower.got.size > had, { what: 'more', everyMs: 200 });
        await more.catch(() => undefined);
      }
      assert.deepEqual(missed(), [], `the ${what} missed some`);
      const different = logs.filter(([name, times]) => follower.got.get(name) !== times);
      assert.deepEqual(different, [], `the ${what} received some twice`);
    }
  });

  /** By sender number. */
  function isSample(name: string): boolean {
    return name.startsWith('sender 4 ');
  }

  async function deletesNothing(): Promise<void> {
    const { streamId } = service.quickstart;
    const answer = await service.admin('DELETE', `/streams/${streamId}/data`);
    assert.equal(answer.status, 503, answer.text);
    const stream = await service.admin('GET', `/streams/${streamId}`);
    assert.equal(stream.json<{ dataDeletedUntil: unknown }>().dataDeletedUntil, null);
  }

  async function grpcSaysWhen(): Promise<void> {
    const { token, receiverId } = service.quickstart.receivers.otlp;
    const authorization = [`Bearer ${token}`];
    const call = { receiverId, authorization, headers: {}, body: oneLog };
    const answer = await callGrpc(service, call);
    assert.deepEqual([answer.status, answer.retryAfter], [503, 1], answer.text);
  }

  async function untilHeartbeat(): Promise<void> {
    const sofar = tail.heartbeats();
    await until(() => tail.heartbeats() > sofar, { what: 'a heartbeat of the tail' });
  }
});
