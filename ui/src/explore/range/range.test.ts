/** Time ranges and time input. */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import {
  editedMoment,
  formatRange,
  momentText,
  parseMoment,
  parseSpanWords,
  presets,
  resolveRange,
  stepRange,
  untilNow,
  zoomOut,
} from './range.ts';
import { roundSteps } from '../../../../src/model/round-steps.ts';
import { parseSpan, type Range } from '../query.ts';

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

const wide = { fitting: 140, zone: 'utc' } as const;
const nowAt = Date.parse('2026-04-01T09:17:23.456Z');

test('widens a relative range to bars that begin at round times', () => {
  const resolved = (span: string) => {
    const { bounds: of, buckets } = resolveRange({ kind: 'relative', span }, nowAt, wide);
    return [of.sinceTime.slice(5, 19), of.untilTime.slice(5, 19), buckets];
  };
  assert.deepEqual(resolved('1h'), ['04-01T08:17:00', '04-01T09:17:30', 121]);
  assert.deepEqual(resolved('24h'), ['03-31T09:15:00', '04-01T09:30:00', 97]);
  assert.deepEqual(resolved('30d'), ['03-02T06:00:00', '04-01T12:00:00', 121]);
  assert.deepEqual(resolved('1s'), ['04-01T09:17:22', '04-01T09:17:24', 78]);
});

test('aligns bars in the zone of the reader', () => {
  const before = process.env.TZ;
  try {
    process.env.TZ = 'Asia/Kolkata';
    const local = { fitting: 140, zone: 'local' } as const;
    const { bounds: days } = resolveRange({ kind: 'relative', span: '30d' }, nowAt, local);
    assert.equal(days.sinceTime, '2026-03-02T06:30:00.000Z', 'noon in India');
  } finally {
    process.env.TZ = before;
  }
});

test('keeps an absolute range, in round bars if they divide it', () => {
  const parts = (from: string, until: string) => {
    const range = { kind: 'absolute', from: `2026-04-01T${from}Z`, until: `2026-04-01T${until}Z` };
    const resolved = resolveRange(range as Range, nowAt, wide);
    assert.deepEqual(resolved.bounds, { sinceTime: range.from, untilTime: range.until });
    return resolved.buckets;
  };
  assert.equal(parts('08:30:00.000', '09:00:00.000'), 120);
  assert.equal(parts('08:30:00.000', '08:30:00.003'), 3);
  assert.equal(parts('08:30:00.001', '08:46:40.004'), 140);
});

test('extends the times of a run to now in its own bars', () => {
  const run = resolveRange({ kind: 'relative', span: '1h' }, nowAt, wide);
  assert.deepEqual(untilNow(run, nowAt, wide), run);
  const { bounds: later, buckets } = untilNow(run, nowAt + 301_000, wide);
  assert.equal(later.sinceTime, run.bounds.sinceTime);
  assert.equal(later.untilTime, '2026-04-01T09:22:30.000Z');
  assert.equal(buckets, 131);
});

test('bars of any relative range are round and few, and cover the range', () => {
  const span = fc
    .tuple(fc.integer({ min: 1, max: 300 }), fc.constantFrom('s', 'm', 'h', 'd'))
    .map(([count, unit]) => `${count}${unit}`);
  const now = fc.integer({ min: Date.UTC(2030, 0), max: Date.UTC(2040, 0) });
  fc.assert(
    fc.property(span, now, fc.integer({ min: 20, max: 490 }), (length, ms, fitting) => {
      const range = { kind: 'relative', span: length } as const;
      const { bounds: of, buckets } = resolveRange(range, ms, { fitting, zone: 'utc' });
      const [since, until] = [Date.parse(of.sinceTime), Date.parse(of.untilTime)];
      assert.ok(since <= ms - parseSpan(length)! && until > ms);
      const step = (until - since) / buckets;
      assert.ok(roundSteps.includes(step), `${step}`);
      assert.equal(since % step, 0);
      assert.ok(buckets <= 500);
    }),
  );
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

test('keeps an unchanged time of the hour that clocks repeat', () => {
  const before = process.env.TZ;
  try {
    process.env.TZ = 'Europe/Berlin';
    const at = { zone: 'local', nowMs } as const;
    for (const iso of ['2026-10-25T00:30:00.000Z', '2026-10-25T01:30:00.000Z']) {
      assert.equal(momentText(iso, 'local'), '2026-10-25 02:30:00');
      assert.equal(editedMoment('2026-10-25 02:30:00', iso, at), Date.parse(iso));
      assert.equal(editedMoment('2026-10-25 04:00', iso, at), Date.UTC(2026, 9, 25, 3));
    }
  } finally {
    process.env.TZ = before;
  }
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
