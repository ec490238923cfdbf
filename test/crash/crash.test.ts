/** Acknowledged is stored exactly once, through kills of the real process. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runCrashTest } from './run.ts';
import { openSingleStage } from './single-stage.ts';

test('four kills lose nothing, double nothing and invent nothing', async (t) => {
  const seed = Number(process.env['CRASH_SEED'] ?? Date.now() % 2 ** 31);
  t.diagnostic(`replay with: npm run crash -- --kills 4 --seed ${seed}`);
  const stage = await openSingleStage();
  const report = await runCrashTest({ stage, kills: 4, seed, say: () => undefined });
  t.diagnostic(JSON.stringify({ ...report, faults: report.faults.length }));
  assert.deepEqual(report.faults, []);
  assert.ok(report.acknowledged > 100, `only ${report.acknowledged} events were acknowledged`);
});
