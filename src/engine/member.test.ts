/** Settings are read back from chDB. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { verifySettings } from './member.ts';

test('names each setting that chDB ignored', async () => {
  const member = {
    query: async () => ({ bytes: Buffer.from('a\t1\nb\t0\n'), rowsRead: 2, bytesRead: 4 }),
  };
  const wanted = new Map([
    ['a', '1'],
    ['b', '2'],
    ['c', '3'],
  ]);
  await assert.rejects(verifySettings(member, 'settings', wanted), {
    message:
      'cannot start the engine: in system.settings b is 0 instead of 2; c is unknown instead of 3',
  });
});
