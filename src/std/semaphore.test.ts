/** The fair semaphore: shares, queue and order. */
import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { AppError } from '../model/errors.ts';
import { createSemaphore, type Semaphore } from './semaphore.ts';

describe('an account', () => {
  test('gets half of the places, and less when others hold some', async () => {
    const semaphore = createSemaphore({ what: 'tests', places: 12 });
    assert.equal(await takeAll(semaphore, 'a'), 6);
    assert.equal(await takeAll(semaphore, 'b'), 3);
    assert.equal(await takeAll(semaphore, 'c'), 2);
    assert.equal(await takeAll(semaphore, 'd'), 1);
    await assert.rejects(semaphore.acquire('e'), isUnavailable(/all 12 are taken/));
  });

  test('gets the only place', async () => {
    const semaphore = createSemaphore({ what: 'tests', places: 1, maxWaiting: 2 });
    const leave = await semaphore.acquire('a');
    const second = semaphore.acquire('a');
    leave();
    (await second)();
    assert.equal(semaphore.held(), 0);
  });

  test('gets a free place at once while another account queues', async () => {
    const semaphore = createSemaphore({ what: 'tests', places: 3, maxWaiting: 100 });
    for (let i = 0; i < 50; i += 1) void semaphore.acquire('a');
    assert.equal(semaphore.held(), 2);
    await semaphore.acquire('b');
    assert.equal(semaphore.held(), 3);
  });

  test('is refused with its share, the limit and the setting', async () => {
    const options = { what: 'tests', places: 4, setting: 'some.maxTests' };
    const semaphore = createSemaphore(options);
    await takeAll(semaphore, 'a');
    await assert.rejects(
      semaphore.acquire('a'),
      isUnavailable(/^cannot begin more tests: the account has 2 of 4, .*raise some\.maxTests$/),
    );
  });

  test('gets half of the queue', async () => {
    const semaphore = createSemaphore({ what: 'tests', places: 1, maxWaiting: 4 });
    const leave = await semaphore.acquire('a');
    const mine = [semaphore.acquire('a'), semaphore.acquire('a')];
    await assert.rejects(semaphore.acquire('a'), isUnavailable(/has 1 of 1, and 2 wait/));
    assert.throws(() => semaphore.check('a'), isUnavailable(/2 wait/));
    const other = semaphore.acquire('b');
    leave();
    await Promise.all([...mine, other].map(async (turn) => (await turn)()));
    assert.equal(semaphore.held(), 0);
  });
});

test('serves waiting accounts in turn, each in order of arrival', async () => {
  const semaphore = createSemaphore({ what: 'tests', places: 1, maxWaiting: 100 });
  const leave = await semaphore.acquire('a');
  const order: string[] = [];
  const waits = ['a1', 'a2', 'a3', 'b1', 'b2', 'c1'].map(async (name) => {
    const leaveNext = await semaphore.acquire(name[0]!);
    order.push(name);
    leaveNext();
  });
  leave();
  await Promise.all(waits);
  assert.deepEqual(order, ['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
});

test('an aborted wait releases no place of others', async () => {
  const semaphore = createSemaphore({ what: 'tests', places: 1, maxWaiting: 10 });
  const leave = await semaphore.acquire('a');
  const leaving = new AbortController();
  const left = semaphore.acquire('a', leaving.signal);
  const stays = semaphore.acquire('a');
  leaving.abort();
  await assert.rejects(left, { name: 'AbortError' });
  assert.equal(semaphore.waiting(), 1);
  leave();
  const leaveSecond = await stays;
  // A second call has no effect.
  leave();
  assert.equal(semaphore.held(), 1);
  leaveSecond();
  await assert.rejects(semaphore.acquire('a', leaving.signal), { name: 'AbortError' });
  assert.equal(semaphore.held(), 0);
});

test('refuses after maxWaitMs', async () => {
  const semaphore = createSemaphore({ what: 'tests', places: 1, maxWaiting: 10, maxWaitMs: 1 });
  const leave = await semaphore.acquire('a');
  await assert.rejects(semaphore.acquire('b'), isUnavailable(/all 1 are taken/));
  assert.equal(semaphore.waiting(), 0);
  leave();
  assert.equal(semaphore.held(), 0);
});

test('neither loses, exceeds nor idles places under random events', async () => {
  const step = fc.record({
    account: fc.constantFrom('a', 'b', 'c'),
    what: fc.constantFrom('take', 'take', 'leave', 'abort'),
  });
  const steps = fc.array(step, { maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 6 }), steps, async (places, todo) => {
      const semaphore = createSemaphore({ what: 'tests', places, maxWaiting: 1_000 });
      const inside: Held[] = [];
      const outside: Waiting[] = [];
      for (const { account, what } of todo) {
        if (what === 'take') enter(semaphore, account, { inside, outside });
        if (what === 'leave') inside.shift()?.leave();
        if (what === 'abort') outside.find((one) => one.account === account)?.abort();
        await setImmediate();
        assert.equal(semaphore.held(), inside.length);
        assert.ok(inside.length <= places);
        assert.equal(semaphore.waiting(), outside.length);
        for (const waiting of outside) {
          const held = inside.filter((one) => one.account === waiting.account).length;
          assert.ok(held >= places - inside.length, 'a place is idle while a caller waits');
        }
      }
      while (inside.length > 0) {
        inside.shift()!.leave();
        await setImmediate();
      }
      assert.equal(outside.length, 0);
      assert.equal(semaphore.held(), 0);
    }),
  );
});

interface Held {
  readonly account: string;
  readonly leave: () => void;
}

interface Waiting {
  readonly account: string;
  readonly abort: () => void;
}

/** Queues a caller and asserts that its account is served in order of arrival. */
function enter(
  semaphore: Semaphore,
  account: string,
  { inside, outside }: { inside: Held[]; outside: Waiting[] },
): void {
  const leaving = new AbortController();
  const own = { account, abort: () => leaving.abort() };
  outside.push(own);
  semaphore.acquire(account, leaving.signal).then(
    (leave) => {
      assert.equal(
        outside.find((one) => one.account === account),
        own,
      );
      outside.splice(outside.indexOf(own), 1);
      inside.push({ account, leave });
    },
    () => outside.splice(outside.indexOf(own), 1),
  );
}

/** @returns the number of places acquired. */
async function takeAll(semaphore: Semaphore, account: string): Promise<number> {
  for (let count = 0; ; count += 1) {
    try {
      await semaphore.acquire(account);
    } catch {
      return count;
    }
  }
}

function isUnavailable(message: RegExp) {
  return (error: unknown) =>
    error instanceof AppError && error.code === 'unavailable' && message.test(error.message);
}
