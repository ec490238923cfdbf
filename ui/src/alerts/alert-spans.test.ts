/** Alerts over time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toHistories, toHistoryRead, toLookbackSeconds, toPreviewed } from './alert-spans.ts';

test('samples in a row are one span, and a gap ends it', () => {
  const labels = { __name__: 'ALERTS', alertname: 'Down', job: 'a' };
  const at = (...seconds: number[]) => seconds.map((one) => [one, '1'] as const);
  const [history, ...more] = toHistories(
    [
      { metric: { ...labels, alertstate: 'pending' }, values: at(10, 20, 60) },
      { metric: { ...labels, alertstate: 'firing' }, values: at(30, 40) },
    ],
    10_000,
    'after',
  );
  assert.deepEqual(more, []);
  assert.equal(history?.name, 'Down');
  assert.deepEqual(history.labels, [['job', 'a']]);
  assert.deepEqual(history.spans, [
    { state: 'pending', fromMs: 10_000, untilMs: 30_000 },
    { state: 'firing', fromMs: 30_000, untilMs: 50_000 },
    { state: 'pending', fromMs: 60_000, untilMs: 70_000 },
  ]);
});

test('a step that is longer than all intervals is looked at as a whole', () => {
  const of = (stepMs: number) =>
    toHistoryRead('ALERTS', [{ interval: 60 }, { interval: 300 }], stepMs);
  assert.deepEqual(of(300_000), { query: 'ALERTS', lookbackSeconds: 600, tellsOf: 'after' });
  const query = 'last_over_time(ALERTS[600000ms])';
  assert.deepEqual(of(600_000), { query, lookbackSeconds: undefined, tellsOf: 'before' });
  const metric = { alertname: 'Down' };
  const at = (...seconds: number[]) => seconds.map((one) => [one, '1'] as const);
  const [history] = toHistories(
    [
      { metric: { ...metric, alertstate: 'firing' }, values: at(1200, 1800) },
      { metric: { ...metric, alertstate: 'pending' }, values: at(1200) },
    ],
    600_000,
    'before',
  );
  assert.deepEqual(history?.spans, [
    { state: 'pending', fromMs: 600_000, untilMs: 1_200_000 },
    { state: 'firing', fromMs: 600_000, untilMs: 1_800_000 },
  ]);
});

test('a sample is valid until the next evaluation of the slowest group', () => {
  const of = (...intervals: number[]) =>
    toLookbackSeconds(intervals.map((interval) => ({ interval })));
  assert.equal(of(), undefined);
  assert.equal(of(1, 60), undefined);
  assert.equal(of(60, 3600, 300), 3900);
});

test('a previewed alert is pending until it fires, and active until the end of the preview', () => {
  const time = (seconds: number) => new Date(seconds * 1000).toISOString();
  const labels = { alertname: 'Down' };
  const [history] = toPreviewed(
    [
      { labels, activeAt: time(10), firedAt: time(20), endedAt: time(30) },
      { labels, activeAt: time(40), firedAt: time(40), endedAt: null },
      { labels, activeAt: time(35), firedAt: null, endedAt: time(36) },
    ],
    60_000,
  );
  assert.deepEqual(history?.spans, [
    { state: 'pending', fromMs: 10_000, untilMs: 20_000 },
    { state: 'firing', fromMs: 20_000, untilMs: 30_000 },
    { state: 'firing', fromMs: 40_000, untilMs: 60_000 },
    { state: 'pending', fromMs: 35_000, untilMs: 36_000 },
  ]);
});
