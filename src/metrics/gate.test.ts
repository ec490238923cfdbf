/** Who gets through the gate, and when. */
import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { test } from 'node:test';
import fc from 'fast-check';
import { AppError } from '../model/errors.ts';
import { createGate } from './gate.ts';

test('never more than its places, in order, and everybody in the end', async () => {
  const stays = fc.array(fc.nat({ max: 3 }), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 4 }), stays, async (places, turns) => {
      const gate = createGate(places, turns.length);
      const order: number[] = [];
      let inside = 0;
      await Promise.all(
        turns.map(async (stay, index) => {
          const leave = await gate.enter();
          order.push(index);
          inside += 1;
          assert.ok(inside <= places);
          for (let turn = 0; turn < stay; turn += 1) await setImmediate();
          inside -= 1;
          leave();
        }),
      );
      assert.deepEqual(order, [...turns.keys()]);
    }),
  );
});

test('refuses those who would wait behind too many', async () => {
  const gate = createGate(1, 1);
  const leave = await gate.enter();
  const second = gate.enter();
  await assert.rejects(
    gate.enter(),
    (error) => error instanceof AppError && error.code === 'unavailable',
  );
  leave();
  (await second)();
  (await gate.enter())();
});
