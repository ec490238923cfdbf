/** Who asks whether the store is well is answered soon, whatever the engine is doing. */
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
