/** Which steps of time are tried, and which are known to leave too many counts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CountField } from '../sql/part-counts.ts';
import { countDefaults, createStepTrials } from './count-steps.ts';

const part = { rows: 1_000_000, logsPerMs: 10 };

function keyOf(fields: readonly CountField[], accountId = 'a') {
  return { part: 'p', accountId, fields };
}

test('a step that failed is not tried again, nor for more fields', () => {
  const trials = createStepTrials(countDefaults);
  const stepsOf = (...key: Parameters<typeof keyOf>) =>
    trials.list(keyOf(...key), part).map(({ step }) => step);
  const all = stepsOf(['severity']);
  trials.noteFailure(trials.list(keyOf(['severity']), part)[0]!);
  const rest = all.slice(1);
  assert.deepEqual(stepsOf(['severity']), rest);
  assert.deepEqual(stepsOf(['severity', 'host']), rest);
  assert.deepEqual(stepsOf(['severity', 'serviceName', 'label.k']), rest);
  assert.deepEqual(stepsOf(['host']), all);
  assert.deepEqual(stepsOf(['severity'], 'b'), all);
});

test('a step is tried again for fewer fields, and for larger or denser parts', () => {
  const trials = createStepTrials(countDefaults);
  const key = keyOf(['severity', 'host']);
  trials.noteFailure(trials.list(key, part)[0]!);
  const first = (...of: Parameters<typeof trials.list>) => trials.list(...of)[0]!.step;
  assert.equal(first(key, part), 1_000);
  assert.equal(first(keyOf(['host']), part), 100);
  assert.equal(first(key, { ...part, rows: 2 * part.rows }), 100);
  assert.equal(first(key, { ...part, logsPerMs: 2 * part.logsPerMs }), 100);
});
