/** Rows of a live list: deduplicated, bounded, held while the reader has scrolled down. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Log } from '../../api/models.ts';
import { appendListed, arrive, type LiveRows, noLiveRows, release } from './live-rows.ts';

const following = { isHolding: false };
const holding = { isHolding: true };

test('puts new logs on top, newest first', () => {
  const live = arrive(arrive(noLiveRows, logs('2', '3'), following), logs('5', '4'), following);
  assert.equal(shown(live), '5 4 3 2');
});

test('keeps a late log on top, so that it is visible', () => {
  const live = arrive(arrive(noLiveRows, logs('8'), following), logs('1'), following);
  assert.equal(shown(live), '1 8');
});

test('holds new logs while the reader has scrolled down, and releases them', () => {
  let live = arrive(noLiveRows, logs('1'), following);
  live = arrive(live, logs('2'), holding);
  live = arrive(live, logs('3'), holding);
  assert.equal(shown(live), '1');
  assert.equal(live.held.length, 2);
  assert.equal(shown(release(live)), '3 2 1');
  assert.equal(shown(arrive(live, logs('4'), following)), '4 3 2 1');
});

test('deduplicates a log that is both listed and tailed, in either order', () => {
  const listedFirst = arrive(appendListed(noLiveRows, logs('2', '1')), logs('2', '3'), following);
  assert.equal(shown(listedFirst), '3 2 1');
  const arrivedFirst = appendListed(arrive(noLiveRows, logs('3'), following), logs('3', '2', '1'));
  assert.equal(shown(arrivedFirst), '3 2 1');
  assert.equal(shown(appendListed(arrive(noLiveRows, logs('3'), holding), logs('3', '2'))), '2');
});

test('returns the same object when nothing is new', () => {
  const live = arrive(noLiveRows, logs('1'), following);
  assert.equal(arrive(live, logs('1'), following), live);
  assert.equal(release(live), live);
});

test('keeps the newest logs and counts the dropped ones', () => {
  const few = { maxRows: 3 };
  let live = arrive(noLiveRows, logs('1', '2', '3', '4'), { ...following, ...few });
  assert.equal(shown(live), '4 3 2');
  live = arrive(live, logs('5', '6', '7', '8'), { ...holding, ...few });
  assert.equal(live.forgotten, 1);
  assert.equal(shown(release(live, 3)), '8 7 6');
});

test('says that rows were dropped', () => {
  const full = appendListed(noLiveRows, logs('3', '2', '1'), 3);
  assert.equal(full.isCut, false);
  assert.equal(appendListed(full, logs('0'), 3).isCut, true);
  assert.equal(release(arrive(full, logs('4'), holding), 3).isCut, true);
  assert.equal(arrive(full, logs('4'), { ...following, maxRows: 3 }).isCut, true);
});

test('keeps less logs of much text', () => {
  const long = (...ids: string[]) =>
    logs(...ids).map((log, at) => ({
      ...log,
      ...(at % 2 === 0 ? { message: text } : { labels: { text } }),
    }));
  const text = 'x'.repeat(30_000_000);
  const live = arrive(appendListed(noLiveRows, long('2', '1')), long('3', '4'), holding);
  assert.equal(shown(live), '2 1');
  const released = release(live);
  assert.deepEqual([shown(released), released.isCut], ['4 3 2', true]);
  const held = arrive(live, long('5', '6'), holding);
  assert.deepEqual([held.held.length, held.forgotten], [3, 1]);
  const whole = logs('9').map((log) => ({ ...log, message: 'x'.repeat(100_000_001) }));
  assert.equal(shown(arrive(noLiveRows, whole, following)), '9');
});

test('shows every log once, in any arrival order', () => {
  const step = fc.record({ ids: fc.array(fc.nat(30)), isHolding: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      let live = noLiveRows;
      for (const { ids, isHolding } of steps) {
        live = arrive(live, logs(...ids.map(String)), { isHolding });
      }
      const ids = release(live).rows.map(({ logId }) => logId);
      const sent = new Set(steps.flatMap((one) => one.ids.map(String)));
      assert.equal(ids.length, sent.size);
      assert.deepEqual(new Set(ids), sent);
    }),
  );
});

function logs(...ids: string[]): Log[] {
  return ids.map((logId) => ({ logId, message: '', labels: {} }) as unknown as Log);
}

function shown({ rows }: LiveRows): string {
  return rows.map(({ logId }) => logId).join(' ');
}
