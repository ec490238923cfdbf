/** Time ranges and time input. */
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  bucketsFor,
  formatRange,
  parseMoment,
  parseSpanWords,
  presets,
  stepRange,
  zoomOut,
} from './range.ts';
import { parseSpan } from '../query.ts';

const bounds = { sinceTime: '2026-04-01T08:00:00.000Z', untilTime: '2026-04-01T09:00:00.000Z' };
const absolute = { kind: 'absolute', from: bounds.sinceTime, until: bounds.untilTime } as const;
const nowMs = Date.parse('2026-04-02T00:00:00Z');

test('describes ranges', () => {
  assert.equal(formatRange({ kind: 'relative', span: '90m' }, 'utc'), 'Last 90 minutes');
  assert.equal(formatRange({ kind: 'relative', span: '1h' }, 'utc'), 'Last hour');
  assert.equal(formatRange(absolute, 'utc'), '2026-04-01 08:00:00 – 09:00:00');
  const long = { ...absolute, until: '2026-04-02T09:00:00.001Z' };
  assert.equal(formatRange(long, 'utc'), '2026-04-01 08:00:00.000 – 2026-04-02 09:00:00.001');
});

test('moves a range by its length', () => {
  const earlier = stepRange(bounds, 'earlier');
  assert.deepEqual(earlier, {
    kind: 'absolute',
    from: '2026-04-01T07:00:00.000Z',
    until: bounds.sinceTime,
  });
  assert.ok(earlier.kind === 'absolute');
  const there = { sinceTime: earlier.from, untilTime: earlier.until };
  assert.deepEqual(stepRange(there, 'later'), absolute);
});

test('doubles the range when zooming out, without the future', () => {
  const relative = { kind: 'relative', span: '1h' } as const;
  assert.deepEqual(zoomOut(relative, bounds, nowMs), { kind: 'relative', span: '2h' });
  assert.deepEqual(zoomOut(absolute, bounds, nowMs), {
    kind: 'absolute',
    from: '2026-04-01T07:30:00.000Z',
    until: '2026-04-01T09:30:00.000Z',
  });
  assert.deepEqual(zoomOut(absolute, bounds, Date.parse(bounds.untilTime)), {
    kind: 'absolute',
    from: '2026-04-01T07:00:00.000Z',
    until: '2026-04-01T09:00:00.000Z',
  });
  const instant = { sinceTime: bounds.sinceTime, untilTime: '2026-04-01T08:00:00.001Z' };
  const range = { kind: 'absolute', from: instant.sinceTime, until: instant.untilTime } as const;
  const wider = zoomOut(range, instant, nowMs);
  assert.ok(wider.kind === 'absolute' && wider.from < range.from && wider.until > range.until);
});

test('chooses readable bucket lengths if possible', () => {
  const minute = 60_000;
  assert.equal(bucketsFor(60 * minute, 140), 120);
  assert.equal(bucketsFor(5 * minute, 140), 60);
  assert.equal(bucketsFor(30 * 24 * 60 * minute, 140), 120);
  assert.equal(bucketsFor(3, 140), 3);
  assert.equal(bucketsFor(1_000_003, 140), 140);
});

test('parses times', () => {
  const read = (text: string) => {
    const ms = parseMoment(text, 'utc', nowMs);
    return ms === undefined ? undefined : new Date(ms).toISOString();
  };
  assert.equal(read(' 2026-04-01 08:30 '), '2026-04-01T08:30:00.000Z');
  assert.equal(read('2026-04-01'), '2026-04-01T00:00:00.000Z');
  assert.equal(read('2026-04-01T08:30:00.123456789Z'), '2026-04-01T08:30:00.123Z');
  assert.equal(read('2026-04-01 08:30:00+02:00'), '2026-04-01T06:30:00.000Z');
  assert.equal(read('1775000000'), '2026-03-31T23:33:20.000Z');
  assert.equal(read('1775000000123'), '2026-03-31T23:33:20.123Z');
  assert.equal(read('now'), '2026-04-02T00:00:00.000Z');
  assert.equal(read('now-90m'), '2026-04-01T22:30:00.000Z');
  for (const wrong of [
    '',
    'yesterday',
    '2026-02-31',
    '2026-04-01 25:00',
    '12',
    '1960-01-01',
    'now-x',
  ]) {
    assert.equal(read(wrong), undefined, wrong);
  }
});

test('reads times without a zone in the selected zone', () => {
  const local = new Date(2026, 3, 1, 8, 30).getTime();
  assert.equal(parseMoment('2026-04-01 08:30', 'local', nowMs), local);
});

test('parses spans', () => {
  const cases = [
    ['90m', '90m'],
    ['2 hours', '2h'],
    ['Last 3 days', '3d'],
    ['15 min', '15m'],
  ];
  for (const [text, span] of cases) assert.equal(parseSpanWords(text!), span);
  for (const wrong of ['', 'm', '0m', '5 fortnights', '1y']) {
    assert.equal(parseSpanWords(wrong), undefined, wrong);
  }
  for (const preset of presets) assert.notEqual(parseSpan(preset), undefined);
});
