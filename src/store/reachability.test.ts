/** Statements and probes of a server that is slow, hangs or is unreachable. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../model/errors.ts';
import { openReachability } from './reachability.ts';

/** A server whose probes the test controls. */
function openFake(t: { after(work: () => void): void }) {
  const server = { lives: true, probes: 0 };
  const said: string[] = [];
  const reachability = openReachability(
    {
      async probe() {
        server.probes++;
        if (!server.lives) throw new Error('no sign of life');
      },
      slowAfterMs: 5,
      pauseMs: 5,
      isNotConnected: (error) => error === unconnected,
    },
    { storeUnreachable: () => said.push('unreachable'), storeReachable: () => said.push('back') },
  );
  t.after(() => reachability.close());
  return { server, said, reachability };
}

const unconnected = new Error('no connection');
const never = <T>() => new Promise<T>(() => undefined);
const isAway = (error: unknown) =>
  error instanceof AppError && error.code === 'unavailable' && error.retryAfterSeconds === 1;

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 1));
}

test('sends no probe if the answer is fast', async (t) => {
  const { server, reachability } = openFake(t);
  assert.equal(await reachability.read(async () => 1), 1);
  assert.equal(await reachability.change(async () => 2), 2);
  assert.equal(server.probes, 0);
});

test('a slow read continues while probes succeed', async (t) => {
  const { server, said, reachability } = openFake(t);
  const answer = Promise.withResolvers<number>();
  const read = reachability.read((signal) => {
    signal.addEventListener('abort', () => answer.reject(new Error('given up')));
    return answer.promise;
  });
  await until(() => server.probes > 2);
  answer.resolve(1);
  assert.equal(await read, 1);
  assert.deepEqual(said, []);
});

test('gives up a read of a server that hangs, and refuses the next at once', async (t) => {
  const { server, said, reachability } = openFake(t);
  server.lives = false;
  let wasAborted = false;
  const read = reachability.read((signal) => {
    signal.addEventListener('abort', () => (wasAborted = true));
    return never();
  });
  await assert.rejects(read, isAway);
  assert.equal(wasAborted, true);
  await assert.rejects(
    reachability.read(() => assert.fail('it was sent')),
    isAway,
  );
  server.lives = true;
  await until(() => said.length === 2);
  assert.equal(await reachability.read(async () => 1), 1);
  assert.deepEqual(said, ['unreachable', 'back']);
});

test('waits for an insert that was sent, and refuses the next one', async (t) => {
  const { server, said, reachability } = openFake(t);
  server.lives = false;
  const answer = Promise.withResolvers<number>();
  const insert = reachability.change(() => answer.promise);
  await until(() => said.length === 1);
  await assert.rejects(
    reachability.change(() => assert.fail('it was sent')),
    isAway,
  );
  answer.resolve(1);
  assert.equal(await insert, 1);
});

test('a refused connection opens the circuit, an error response does not', async (t) => {
  const { server, reachability } = openFake(t);
  server.lives = false;
  const refusal = new Error('refused');
  await assert.rejects(
    reachability.read(() => Promise.reject(refusal)),
    refusal,
  );
  await assert.rejects(
    reachability.read(() => Promise.reject(unconnected)),
    unconnected,
  );
  await assert.rejects(
    reachability.read(() => assert.fail('it was sent')),
    isAway,
  );
});
