/** Short messages of a connection are split off in parts, and long ones at once. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { DelimitedFrames } from '../../src/codec/delimited-frames.ts';
import type { DeliveryParts } from '../../src/sockets/deliver.ts';
import { HeldMemory } from '../../src/sockets/held-bytes.ts';
import { serveFrames } from '../../src/sockets/serve-frames.ts';

const sentBytes = 2 * 1024 * 1024;
const newline = 0x0a;
const held = { partials: new HeldMemory(Infinity), ahead: new HeldMemory(Infinity) };
const parts = { ...held, events: {} } as unknown as DeliveryParts;

async function openPair(t: TestContext) {
  const server = createServer({ pauseOnConnect: true });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const sender = connect((server.address() as { port: number }).port, '127.0.0.1');
  t.after(() => {
    sender.destroy();
    server.close();
  });
  const [served] = await accepted;
  return { sender, served };
}

/** @returns how many messages were stored at once, each time */
async function countsOf(t: TestContext, line: string): Promise<number[]> {
  const { sender, served } = await openPair(t);
  sender.end(Buffer.alloc(sentBytes, line));
  const counts: number[] = [];
  const options = {
    listener: 'syslog_tcp',
    framing: { open: () => new DelimitedFrames(1024, newline) },
    messageTimeoutMs: 60_000,
    store: async (messages: readonly Buffer[]) => {
      counts.push(messages.length);
      // Longer than what is read ahead takes to arrive.
      await sleep(5);
    },
  };
  await serveFrames(served, new AbortController().signal, options, parts);
  return counts;
}

const sum = (counts: readonly number[]) => counts.reduce((all, count) => all + count, 0);

test('messages of two bytes', async (t) => {
  const counts = await countsOf(t, 'a\n');
  assert.equal(sum(counts), sentBytes / 2);
  assert.ok(Math.max(...counts) <= 32 * 1024, `${Math.max(...counts)} messages`);
  assert.ok(Math.max(...counts.slice(10)) < 10_000);
});

test('messages of a kilobyte', async (t) => {
  const counts = await countsOf(t, `${'x'.repeat(1023)}\n`);
  assert.equal(sum(counts), sentBytes / 1024);
  assert.ok(Math.max(...counts) > 512, `${Math.max(...counts)} messages`);
});

for (const [end, expected] of [
  ['the sender ends', ['a:1|c', 'b:10|c']],
  ['a stop cuts', ['a:1|c']],
] as const) {
  test(`a message without a delimiter that ${end}`, async (t) => {
    const { sender, served } = await openPair(t);
    const stop = new AbortController();
    const stored: string[] = [];
    const options = {
      listener: 'statsd_tcp',
      framing: { open: () => new DelimitedFrames(1024, newline) },
      messageTimeoutMs: 60_000,
      store(messages: readonly Buffer[]) {
        stored.push(...messages.map(String));
        if (end === 'a stop cuts') stop.abort();
        else sender.end();
      },
    };
    sender.write('a:1|c\nb:10|c');
    await serveFrames(served, stop.signal, options, parts);
    assert.deepEqual(stored, expected);
  });
}
