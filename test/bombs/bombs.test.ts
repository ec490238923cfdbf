/** Bombs one by one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bombSuite } from './bomb-suite.ts';
import { bombs } from './bombs.ts';

bombSuite('bombs one by one', (throwAll) => {
  for (const { name, expected } of bombs) {
    test(`${name} gets its answer`, async () => {
      const [status = -1] = await throwAll([name]);
      assert.ok(expected.includes(status), `the status is ${status}`);
    });
  }
});
