/**
 * Starts and stops of nodes while servers are unavailable: a start waits or exits with a sentence,
 * a stop is graceful and bounded.
 */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Service } from '../harness/service.ts';
import { until } from '../harness/until.ts';
import { lastLines, type WeirNode } from '../harness/weir-node.ts';
import { createReaders, createSenders, startBackground } from './failing-traffic.ts';
import type { FaultProxy } from './fault-proxy.ts';
import { toServiceNodes } from './scaled-nodes.ts';
import { missingServers, openScaledSet, type ScaledSet } from './scaled-set.ts';
import type { SetNetwork } from './set-servers.ts';

type Part = keyof SetNetwork;
const parts = ['directory', 'quota', 'queue', 'store'] as const;

/** Requests in flight get ten seconds, hanging ones a few more. */
const longestEndMs = 25_000;

const expectedErrors = [/^(?!.*(?:TypeError|RangeError|ReferenceError|AssertionError))/];

suite('during an outage', { skip: missingServers() }, () => {
  let set: ScaledSet;
  let service: Service;
  before(async () => {
    set = await openScaledSet({
      gateways: 1,
      writers: 1,
      network: 'proxied',
      flags: ['--queue-lease-seconds', '3', '--queue-shards', '2', '--directory-wait-seconds', '5'],
    });
    service = new Service(toServiceNodes(set), { expectedErrors });
    await service.start();
    await set.ready();
  });
  after(async () => {
    await passAll();
    await service?.stop();
  });

  const proxyOf = (part: Part): FaultProxy => set.servers.network![part];
  const passAll = () => Promise.all(parts.map(async (part) => set?.servers.network?.[part].pass()));
  /** All but the engine, which needs no server. */
  const nodes = () => set.nodes.filter((node) => node !== set.engine);

  async function end(node: WeirNode): Promise<void> {
    const running = node.process;
    running.kill('SIGTERM');
    const enough = new AbortController();
    const late = sleep(longestEndMs, 'it still runs', { signal: enough.signal });
    late.catch(() => undefined);
    const exit = await Promise.race([running.exited, late]);
    enough.abort();
    if (exit === 'it still runs') await node.kill('SIGKILL');
    assert.deepEqual(exit, { code: 0, signal: null }, lastLines(running));
  }

  const stored = async () => (await service.metric('weir_drain_rows_total')) ?? 0;

  /** The expected exit message of a start; undefined = nodes start anyway. */
  const sentences: Readonly<Record<Part, RegExp | undefined>> = {
    directory: /cannot open the directory at PostgreSQL: /,
    quota: undefined,
    queue: /cannot connect to NATS at .+check queue\.urls/,
    store: /cannot reach the store at http/,
  };

  /**
   * @param away injected under load; nodes are stopped once it has resolved.
   * @param missing injected before the restart
   */
  async function endsAndStarts(
    away: () => Promise<unknown>,
    part: Part,
    missing: () => Promise<unknown>,
  ): Promise<void> {
    const background = startBackground(createSenders(service), createReaders(service));
    try {
      const sofar = await stored();
      await until(async () => (await stored()) > sofar, { what: 'the drain to insert' });
      await away();
      const ends = await Promise.allSettled(nodes().map(end));
      await passAll();
      await background.stop();
      assert.deepEqual(
        ends.filter(({ status }) => status === 'rejected'),
        [],
      );
      await missing();
      await Promise.all(nodes().map((node) => startsOrSays(node, sentences[part])));
    } finally {
      await passAll();
      await background.stop();
      await service.start();
      await set.ready();
    }
  }

  const refuse = (some: readonly Part[]) => () =>
    Promise.all(some.map((part) => proxyOf(part).refuse()));
  const hold = (some: readonly Part[]) => async () => {
    for (const part of some) proxyOf(part).hold();
  };
  const noticed = (make: () => Promise<unknown>) => async () => {
    await make();
    // Longer than nodes need to notice.
    await sleep(1_500);
  };

  // Operations in flight that may wait for long.
  for (const part of ['queue', 'store'] as const) {
    test(`the ${part} is silent: nodes stop, and start without it or say why not`, () =>
      endsAndStarts(noticed(hold([part])), part, hold([part])));
  }
  /** All outages at once; each part is then missing in turn. */
  const losses: Readonly<Record<Part, readonly [string, () => Promise<unknown>]>> = {
    directory: ['is silent', noticed(hold(parts))],
    quota: ['is gone', noticed(refuse(parts))],
    queue: ['goes silent in that moment', hold(parts)],
    store: ['goes away in that moment', refuse(parts)],
  };
  const withoutAtStart = (part: Part) =>
    part === 'queue' || part === 'store' ? refuse([part]) : hold([part]);
  for (const part of parts) {
    const [loss, away] = losses[part];
    test(`nodes stop while all ${loss}, and start without the ${part} or say why not`, () =>
      endsAndStarts(away, part, withoutAtStart(part)));
  }

  /** It starts, or exits with one sentence and no stack. */
  async function startsOrSays(node: WeirNode, sentence: RegExp | undefined): Promise<void> {
    const start = await node.start().then(
      () => undefined,
      (error: unknown) => error,
    );
    const needsNoStore = node === set.gateways[0] && sentence === sentences.store;
    if (sentence === undefined || needsNoStore) {
      assert.equal(start, undefined);
      return;
    }
    const { code } = await node.process.exited;
    const said = node.process.logs.map(({ raw }) => raw);
    assert.equal(code, 1, said.join('\n'));
    assert.match(said.at(-1) ?? '', sentence, said.join('\n'));
    assert.ok(!said.some((line) => /^ +at /.test(line)), said.join('\n'));
  }

  test('a node that waits for the directory starts once it is available', async () => {
    const [gateway] = set.gateways;
    await end(gateway!);
    await proxyOf('directory').refuse();
    const starting = gateway!.start();
    const launched = () => gateway!.process.logs;
    await until(() => launched().some(({ msg }) => /waiting for the directory/.test(msg)), {
      what: 'a log line about the wait',
    });
    await proxyOf('directory').pass();
    await starting;
    // It has written its addresses by then, and may still exit.
    await set.ready();
  });

  test('a node that waits for the directory stops on request', async () => {
    const [gateway] = set.gateways;
    await end(gateway!);
    await proxyOf('directory').refuse();
    const launched = gateway!.launch();
    await until(() => launched.logs.some(({ msg }) => /waiting for the directory/.test(msg)), {
      what: 'a log line about the wait',
    });
    launched.kill('SIGTERM');
    await launched.exited;
    await proxyOf('directory').pass();
    await gateway!.start();
    await set.ready();
  });
});
