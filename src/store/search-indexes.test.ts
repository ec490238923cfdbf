/** When search indexes are built, over a store whose parts the test names. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSearchIndexes } from './search-indexes.ts';
import type { PartRow } from './sql/housekeeping.ts';

interface Part {
  readonly rows: number;
  readonly isCompact?: boolean;
  readonly isIndexed?: boolean;
}

function openStore({ cluster, isKnown = true }: { cluster?: string; isKnown?: boolean } = {}) {
  const parts = new Map<string, Part>();
  const statements: string[] = [];
  const unindexed: number[] = [];
  const toRow = ([name, part]: [string, Part]): PartRow => {
    const [day, blocks] = name.split('/') as [string, string];
    const { rows, isCompact = false, isIndexed = false } = part;
    return [day, blocks, String(rows), 'small', Number(isCompact), Number(isIndexed)];
  };
  let afterBuild = () => {};
  const store = {
    connection: {
      query: async (_pool: string, { sql }: { sql: string }) =>
        sql.includes('countIf') ? [[Number(isKnown)]] : [...parts].map(toRow),
      async execute(_pool: string, { sql }: { sql: string }) {
        statements.push(/ID '(\d+)'/.exec(sql)![1]!);
        if (cluster === undefined) {
          for (const [name, part] of parts) parts.set(name, { ...part, isIndexed: true });
        }
        afterBuild();
      },
    },
    placement: { database: 'weir', cluster },
    events: {
      messagesIndexed: () => {},
      rowsUnindexed: (rows: number) => void unindexed.push(rows),
    },
  } as unknown as Parameters<typeof createSearchIndexes>[0];
  return {
    parts,
    statements,
    unindexed,
    indexes: createSearchIndexes(store),
    onBuild: (run: () => void) => (afterBuild = run),
  };
}

test('builds nothing after a start for parts that have the indexes', async () => {
  const { parts, statements, unindexed, indexes } = openStore();
  parts.set('20260301/1_1_0', { rows: 400_000, isCompact: true, isIndexed: true });
  await indexes.buildWhenQuiet(0, false);
  await indexes.build();
  assert.deepEqual([statements, unindexed], [[], [0]]);
});

test('builds for all parts once where a table of an earlier version cannot tell', async () => {
  const { parts, statements, indexes } = openStore({ isKnown: false });
  parts.set('20260301/1_1_0', { rows: 10, isIndexed: true });
  parts.set('20260302/2_2_0', { rows: 10, isIndexed: true });
  await indexes.buildWhenQuiet(0, false);
  await indexes.buildWhenQuiet(0, false);
  assert.deepEqual(statements, ['20260301', '20260302']);
});

test('builds once for parts that were merged before their indexes were built', async () => {
  const { parts, statements, unindexed, indexes, onBuild } = openStore();
  parts.set('20260301/1_1_0', { rows: 10 });
  parts.set('20260301/2_2_0', { rows: 10 });
  onBuild(() => {
    parts.clear();
    parts.set('20260301/1_2_1', { rows: 20, isIndexed: true });
  });
  await indexes.buildWhenQuiet(0, false);
  await indexes.buildWhenQuiet(0, false);
  assert.deepEqual([statements, unindexed], [['20260301'], [0, 0]]);
});

test('builds again for parts that were merged after', async () => {
  const { parts, statements, indexes, onBuild } = openStore();
  parts.set('20260301/1_1_0', { rows: 10 });
  onBuild(() => {
    if (statements.length > 1) return;
    parts.clear();
    parts.set('20260301/1_2_1', { rows: 20 });
  });
  await indexes.buildWhenQuiet(0, false);
  await indexes.buildWhenQuiet(0, false);
  await indexes.buildWhenQuiet(0, false);
  assert.deepEqual(statements, ['20260301', '20260301']);
});

test('a few rows cause no rewrite of large compact parts until an hour has passed', async () => {
  const { parts, statements, unindexed, indexes } = openStore();
  parts.set('20260301/1_9_1', { rows: 400_000, isCompact: true, isIndexed: true });
  parts.set('20260302/10_10_0', { rows: 10, isCompact: true });
  await indexes.buildWhenQuiet(0, false);
  assert.deepEqual(statements, ['20260302'], 'other days are left alone');
  parts.set('20260301/11_11_0', { rows: 10_000, isCompact: true });
  await indexes.buildWhenQuiet(0, false);
  assert.equal(statements.length, 1);
  assert.equal(unindexed.at(-1), 10_000);
  parts.set('20260301/12_12_0', { rows: 12_000, isCompact: true });
  await indexes.buildWhenQuiet(0, false);
  assert.equal(statements.length, 2);
  parts.set('20260301/13_13_0', { rows: 10, isCompact: true });
  for (let round = 0; round < 359; round += 1) await indexes.buildWhenQuiet(0, false);
  assert.equal(statements.length, 2);
  await indexes.buildWhenQuiet(0, false);
  assert.equal(statements.length, 3);
});

test('while rows arrive, builds for many, and while many arrive for past days', async () => {
  const { parts, statements, indexes } = openStore();
  parts.set('20260302/1_1_0', { rows: 499_999 });
  await indexes.buildWhenQuiet(1, false);
  assert.deepEqual(statements, []);
  parts.set('20260301/2_2_0', { rows: 1 });
  await indexes.buildWhenQuiet(30_000, true);
  assert.deepEqual(statements, ['20260301']);
  parts.set('20260302/1_1_0', { rows: 500_000 });
  await indexes.buildWhenQuiet(1, false);
  assert.deepEqual(statements, ['20260301', '20260302']);
});

test('a cluster is asked once for each part, and builds when it likes', async () => {
  const { parts, statements, indexes } = openStore({ cluster: 'c' });
  parts.set('20260301/1_1_0', { rows: 10 });
  await indexes.buildWhenQuiet(0, false);
  await indexes.buildWhenQuiet(0, false);
  assert.equal(statements.length, 1);
});
