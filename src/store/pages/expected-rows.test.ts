/** What the newest logs tell about the size of the window that holds a page. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LogFilter } from '../../model/plan.ts';
import { columnIndex } from '../sql/log-record.ts';
import { expectedRows } from './expected-rows.ts';
import type { PlacedRow } from './stream-rows.ts';

/** Logs of which every tenth is of the service `rare`. */
function newest(count: number, isLoaded = true) {
  const rows = Array.from({ length: count }, (_, i) => {
    const row: unknown[] = [];
    row[columnIndex('SeverityNumber')] = 9;
    row[columnIndex('ServiceName')] = i % 10 === 0 ? 'rare' : 'common';
    return { at: (index) => row[index] } as PlacedRow;
  });
  return { isLoaded, rows };
}

const ofService = (name: string): LogFilter => ({
  accountId: 'a',
  streams: [],
  fromNanos: undefined,
  untilNanos: undefined,
  equal: new Map([['serviceName', [name]]]),
  labels: [],
  search: [],
});

test('a page is expected within four times the rows that the newest logs suggest', () => {
  const plan = { filter: ofService('rare'), limit: 100 };
  assert.equal(expectedRows(plan, [newest(200)]), 4_000);
  assert.equal(expectedRows(plan, [newest(200), newest(600)]), 4_000);
  assert.equal(expectedRows({ ...plan, limit: 1 }, [newest(200)]), 40);
});

test('no number of rows is expected where the newest logs do not tell', () => {
  const rare = { filter: ofService('rare'), limit: 100 };
  assert.equal(expectedRows({ ...rare, filter: ofService('absent') }, [newest(200)]), Infinity);
  assert.equal(expectedRows(rare, [newest(200), undefined]), Infinity);
  assert.equal(expectedRows(rare, [newest(200, false)]), Infinity);
  assert.equal(expectedRows(rare, [newest(0)]), Infinity);
  const search = [{ text: 'größe', exclude: false }];
  assert.equal(
    expectedRows({ ...rare, filter: { ...rare.filter, search } }, [newest(200)]),
    Infinity,
  );
});
