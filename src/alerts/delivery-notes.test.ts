/** How often outcomes of notifiers are written, and that the last one is. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Deliveries } from '../model/rules.ts';
import { createDeliveryNotes } from './delivery-notes.ts';

test('writes the first outcome at once, and the last ones of seconds together', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const written: [string, Deliveries][] = [];
  const note = createDeliveryNotes({
    noteDeliveries: async (notifierId, deliveries) => void written.push([notifierId, deliveries]),
    failed: assert.fail,
  });
  const failure = (at: string) => ({ lastFailureAt: at, lastFailure: `at ${at}` });
  await note('a', failure('1'));
  await note('b', failure('1'));
  assert.deepEqual(written.splice(0), [
    ['a', failure('1')],
    ['b', failure('1')],
  ]);
  for (const at of ['2', '3']) await note('a', failure(at));
  await note('a', { lastSuccessAt: '4' });
  assert.deepEqual(written, []);
  t.mock.timers.tick(5_000);
  assert.deepEqual(written.splice(0), [['a', { ...failure('3'), lastSuccessAt: '4' }]]);
  await note('a', { lastSuccessAt: '5' });
  assert.deepEqual(written, [], 'a write that waited is followed by a pause, too');
  await note('b', failure('6'));
  assert.deepEqual(written, [['b', failure('6')]]);
});

test('continues after the directory failed', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const failed: string[] = [];
  const note = createDeliveryNotes({
    noteDeliveries: async () => {
      throw new Error('gone');
    },
    failed: (notifierId) => failed.push(notifierId),
  });
  for (let round = 1; round <= 2; round++) {
    await note('a', { lastSuccessAt: '1' });
    assert.equal(failed.length, round);
    t.mock.timers.tick(5_000);
  }
});
