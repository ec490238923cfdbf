/** Identity and health of a store. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openEngineStore } from './engine-store.ts';

// Far from both timeouts: 2 s of the ping, a minute of the engine.
test('a ping does not wait for a hanging engine', { timeout: 20_000 }, async (t) => {
  const engine = await openEngineStore({ hangMillis: 60_000 });
  const pid = engine.enginePid()!;
  t.after(async () => {
    process.kill(pid, 'SIGCONT');
    await engine.close();
  });
  assert.equal(await engine.store.ping(), true);
  process.kill(pid, 'SIGSTOP');
  assert.equal(await engine.store.ping(), false);
});

test('a store has one identity for every process', async () => {
  const [one, other] = await Promise.all([openEngineStore(), openEngineStore()]);
  const again = await one.reopen({});
  const ids = await Promise.all([one.store, again, other.store].map((store) => store.identity()));
  assert.equal(ids[0], ids[1]);
  assert.notEqual(ids[0], ids[2]);
  await again.close();
  await Promise.all([one.close(), other.close()]);
});
