/** What a store says of itself: which one it is, and soon whether it is well. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openEngineStore } from './engine-store.ts';

// The limit is far from both: 2 s of the ping, and a minute until the engine is given up.
test('a ping does not wait for an engine that hangs', { timeout: 20_000 }, async (t) => {
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

test('a store is the same for everyone who opens it, and no other', async () => {
  const [one, other] = await Promise.all([openEngineStore(), openEngineStore()]);
  const again = await one.reopen({});
  const ids = await Promise.all([one.store, again, other.store].map((store) => store.identity()));
  assert.equal(ids[0], ids[1]);
  assert.notEqual(ids[0], ids[2]);
  await again.close();
  await Promise.all([one.close(), other.close()]);
});
