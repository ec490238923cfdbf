/** Calls between two sides, over each transport. */
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Duplex } from 'node:stream';
import { test } from 'node:test';
import { MessageChannel, Worker } from 'node:worker_threads';
import { AppError } from '../model/errors.ts';
import { openChannel, type Served, transfer, type Transport } from './channel.ts';
import { overStream } from './stream.ts';
import { overIpc, overPort, overWorker } from './transports.ts';

interface Methods {
  double(count: number): number;
  measure(view: Uint8Array): number;
  lengthen(view: Uint8Array): Uint8Array;
  fail(why: string): void;
  hang(): Promise<void>;
}

/** Copies each message written to one end to the other, as between processes. */
function openStreams(): [Transport, Transport] {
  const open = (other: () => Duplex) =>
    new Duplex({
      read() {},
      write(chunk: Buffer, _encoding, done) {
        other().push(Buffer.from(chunk));
        done();
      },
      destroy(error, done) {
        other().destroy();
        done(error);
      },
    });
  const near: Duplex = open(() => far);
  const far: Duplex = open(() => near);
  return [overStream(near), overStream(far)];
}

function openPorts(): [Transport, Transport] {
  const { port1, port2 } = new MessageChannel();
  return [overPort(port1), overPort(port2)];
}

const pairs = { stream: openStreams, port: openPorts };

function openPair(open: () => [Transport, Transport], methods: Partial<Served<Methods>> = {}) {
  const [near, far] = open();
  const calling = openChannel<object, Methods>(near, {});
  const serving = openChannel<Methods, object>(far, {
    double: (count) => 2 * count,
    measure: (view) => view.length,
    lengthen: (view) => new Uint8Array(view.length + 1),
    fail(why) {
      throw new Error(why);
    },
    hang: () => new Promise(() => {}),
    ...methods,
  });
  return { calling, serving, remote: calling.remote };
}

for (const [name, open] of Object.entries(pairs)) {
  test(`${name}: matches replies to concurrent calls`, async () => {
    const { calling, remote } = openPair(open);
    const counts = Array.from({ length: 100 }, (_, index) => index);
    assert.deepEqual(
      await Promise.all(counts.map((count) => remote.double(count))),
      counts.map((count) => 2 * count),
    );
    calling.close();
  });

  test(`${name}: moves a transferred view and copies any other`, async () => {
    const { calling, remote } = openPair(open);
    const moved = new Uint8Array(1_000_000);
    assert.equal(await remote.measure(transfer(moved, [moved.buffer])), 1_000_000);
    assert.equal(moved.length, 0);
    const copied = Buffer.from('copied');
    assert.equal((await remote.lengthen(copied)).length, 7);
    assert.equal(copied.toString(), 'copied');
    calling.close();
  });

  test(`${name}: transfers an AppError with code, options and cause`, async () => {
    const options = { parameter: 'events', rateLimit: { policy: 'p', state: 's' } };
    const thrown = new AppError('quota_exceeded', 'cannot accept more', {
      cause: new Error('deep down'),
      retryAfterSeconds: 3,
      ...options,
    });
    const { calling, remote } = openPair(open, { fail: () => Promise.reject(thrown) });
    await assert.rejects(remote.fail(''), (error) => {
      assert.ok(error instanceof AppError);
      assert.match(String(error.cause), /deep down/);
      const { code, message, parameter, retryAfterSeconds, rateLimit } = error;
      assert.deepEqual({ parameter, rateLimit }, options);
      assert.deepEqual([code, message], ['quota_exceeded', 'cannot accept more']);
      assert.equal(retryAfterSeconds, 3);
      return true;
    });
    calling.close();
  });

  test(`${name}: transfers other errors with their code`, async () => {
    const thrown = Object.assign(new Error('full'), { code: 'ENOSPC' });
    const { calling, remote } = openPair(open, { fail: () => Promise.reject(thrown) });
    await assert.rejects(remote.fail(''), { name: 'Error', message: 'full', code: 'ENOSPC' });
    calling.close();
  });

  test(`${name}: rejects a call whose arguments cannot be sent`, async () => {
    const { calling, remote } = openPair(open);
    const circular: { self?: unknown; call: () => void } = { call: () => {} };
    circular.self = circular;
    await assert.rejects(remote.double(circular as never));
    assert.equal(await remote.double(2), 4);
    calling.close();
  });

  test(`${name}: rejects pending and later calls once the peer has closed`, async () => {
    const { calling, serving, remote } = openPair(open);
    const pending = remote.hang();
    serving.close();
    const reason = await calling.closed;
    await assert.rejects(pending, reason);
    await assert.rejects(remote.double(1), reason);
    calling.notify('double', 1);
  });
}

test('stream: calls to a closed peer fail as retryable', async () => {
  const { calling, serving } = openPair(openStreams);
  serving.close();
  const reason = await calling.closed;
  assert.ok(reason instanceof AppError && reason.kind.retryable);
});

test('stream: carries bytes, maps and sets at any depth', async () => {
  const value = {
    bytes: Buffer.from([0, 255]),
    set: new Set(['a', 'b']),
    map: new Map([['a', Buffer.from('1')]]),
    list: [{ none: null, deep: [Buffer.alloc(0)] }],
  };
  interface Echo {
    echo(given: unknown): unknown;
  }
  const [near, far] = openStreams();
  const { remote } = openChannel<object, Echo>(near, {});
  openChannel<Echo, object>(far, { echo: (given) => given });
  assert.deepEqual(await remote.echo(value), value);
});

const serveDouble = `
  import { openChannel } from '${new URL('./channel.ts', import.meta.url).href}';
  import { overIpc, overPort } from '${new URL('./transports.ts', import.meta.url).href}';
  import { parentPort } from 'node:worker_threads';
  openChannel(parentPort ? overPort(parentPort) : overIpc(process), { double: (n) => 2 * n });
`;

test('a thread serves calls until the channel is closed', async () => {
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(serveDouble)}`));
  const channel = openChannel<object, Methods>(overWorker(worker), {});
  assert.equal(await channel.remote.double(2), 4);
  channel.close();
  assert.match((await channel.closed).message, /thread ended/);
});

test('a child process serves calls until the channel is closed', async () => {
  const execArgv = ['--input-type=module', '--eval', serveDouble];
  const child = fork('', { execArgv });
  const channel = openChannel<object, Methods>(overIpc(child), {});
  assert.equal(await channel.remote.double(2), 4);
  channel.close();
  await once(child, 'exit');
  await assert.rejects(channel.remote.double(1), /process is gone/);
});
