/** Responses to failed tokens: immediate, delayed, or cut. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFailedTokens, freeFailures, maxKnownAddresses } from './failed-tokens.ts';

const options = { delayMs: 1, maxWaiting: 3, maxWaitingPerAddress: 2 };

function open(over: Partial<typeof options> = {}) {
  const clock = { nowMs: 0 };
  return { clock, failed: createFailedTokens({ ...options, ...over }, () => clock.nowMs) };
}

async function useUp({ failed }: ReturnType<typeof open>, key: string): Promise<void> {
  for (let count = 0; count < freeFailures.burst; count += 1) {
    assert.equal(await failed.pace(key), 'at once');
  }
}

test('answers the first failures of an address at once and delays later ones', async () => {
  const opened = open();
  await useUp(opened, 'a');
  assert.equal(await opened.failed.pace('a'), 'delayed');
});

test('does not delay another address', async () => {
  const opened = open();
  await useUp(opened, 'a');
  assert.equal(await opened.failed.pace('b'), 'at once');
});

test('answers at once after a pause', async () => {
  const opened = open();
  await useUp(opened, 'a');
  opened.clock.nowMs += 1000 / freeFailures.perSecond;
  assert.equal(await opened.failed.pace('a'), 'at once');
});

test('cuts answers beyond the limit of an address', async () => {
  const opened = open();
  await useUp(opened, 'a');
  const paces = await Promise.all([1, 2, 3].map(() => opened.failed.pace('a')));
  assert.deepEqual(paces, ['delayed', 'delayed', 'cut']);
});

test('cuts answers beyond the total limit', async () => {
  const opened = open();
  await useUp(opened, 'a');
  await useUp(opened, 'b');
  const paces = await Promise.all(['a', 'a', 'b', 'b'].map((key) => opened.failed.pace(key)));
  assert.deepEqual(paces, ['delayed', 'delayed', 'delayed', 'cut']);
});

test('shares one allowance among addresses beyond the limit', async () => {
  const opened = open({ maxWaiting: 0 });
  for (let index = 0; index < maxKnownAddresses; index += 1) {
    await opened.failed.pace(`known ${index}`);
  }
  for (let index = 0; index < freeFailures.burst; index += 1) {
    assert.equal(await opened.failed.pace(`other ${index}`), 'at once');
  }
  assert.equal(await opened.failed.pace('another'), 'cut');
});
