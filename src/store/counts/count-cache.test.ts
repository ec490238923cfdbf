/** What the cache asks the store, and what it does not ask again. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Statement } from '../sql/statement.ts';
import { countDefaults, createCountCache } from './count-cache.ts';
import { minutesOf } from './minutes.ts';

const placement = { database: 'weir', cluster: undefined };
const always = minutesOf({ fromNanos: undefined, untilNanos: undefined });
const part = ['20260301_1_9_2', '900000', 60] as const;

test('a part without logs of the account is looked up once and not counted', async () => {
  const asked: string[] = [];
  const connection = {
    query: async (_pool: string, { sql }: Statement) => {
      asked.push(sql);
      return [];
    },
  };
  const cache = createCountCache(connection, placement, countDefaults);
  for (let i = 0; i < 3; i++) {
    cache.want([part], [{ accountId: 'a', fields: [] }], always);
    await cache.settled();
  }
  assert.equal(asked.length, 1);
  assert.match(asked[0]!, /mergeTreeIndex/);
});
