/** The states of alerts over evaluations, with and without samples. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Alert, AlertingRule, RuleSample } from '../model/rules.ts';
import { nextAlerts, resolvedRetentionMs } from './alerts.ts';

const base: AlertingRule = {
  kind: 'alerting',
  name: 'Down',
  query: { type: 'prometheus', expr: 'up == 0' },
  labels: { team: 'infra' },
  annotations: { summary: '{{ $labels.job }} has {{ $value }}' },
  forMs: 0,
  keepFiringForMs: 0,
};
const api: RuleSample = { labels: { __name__: 'up', job: 'api' }, value: 0 };

/** Evaluations at these times, with or without the sample. */
function run(
  rule: AlertingRule,
  steps: readonly (readonly [atMs: number, isThere: boolean])[],
  intervalMs = 60_000,
) {
  let alerts: Alert[] = [];
  let previousMs: number | undefined;
  const states: (string | undefined)[] = [];
  for (const [atMs, isThere] of steps) {
    const samples = isThere ? [api] : [];
    alerts = nextAlerts(rule, { samples, atMs, previousMs, intervalMs, alerts });
    states.push(alerts[0]?.state);
    previousMs = atMs;
  }
  return { alerts, states };
}

suite('alerts of a rule', () => {
  test('fire at once without for, with labels and annotations', () => {
    const { alerts } = run(base, [[1000, true]]);
    assert.deepEqual(alerts, [
      {
        state: 'firing',
        labels: { alertname: 'Down', job: 'api', team: 'infra' },
        annotations: { summary: 'api has 0' },
        value: '0e+00',
        activeAtMs: 1000,
        firedAtMs: 1000,
      },
    ]);
  });

  test('keep the labels of a sample that the rule replaces', () => {
    const rule = { ...base, labels: { job: 'web', host: 'a', zone: '' } };
    const labels = { ...api.labels, host: '', zone: 'eu', shard: '' };
    const [alert] = nextAlerts(rule, {
      samples: [{ labels, value: 0 }],
      atMs: 0,
      intervalMs: 60_000,
      previousMs: undefined,
      alerts: [],
    });
    assert.deepEqual(alert?.labels, { alertname: 'Down', host: 'a', job: 'web' });
    assert.deepEqual(alert.replaced, { job: 'api', host: '', zone: 'eu' });
  });

  test('are pending until for has passed', () => {
    const rule = { ...base, forMs: 60_000 };
    const { states, alerts } = run(rule, [
      [0, true],
      [59_999, true],
      [60_000, true],
    ]);
    assert.deepEqual(states, ['pending', 'pending', 'firing']);
    assert.equal(alerts[0]?.firedAtMs, 60_000);
  });

  test('are forgotten where they end while pending', () => {
    const { states } = run({ ...base, forMs: 60_000 }, [
      [0, true],
      [30_000, false],
      [60_000, true],
    ]);
    assert.deepEqual(states, ['pending', undefined, 'pending']);
  });

  test('resolve, are kept for receivers, and begin again', () => {
    const { states } = run(base, [
      [0, true],
      [1, false],
      [1 + resolvedRetentionMs, false],
      [2 + resolvedRetentionMs, false],
    ]);
    assert.deepEqual(states, ['firing', 'inactive', 'inactive', undefined]);
    const again = run(base, [
      [0, true],
      [1, false],
      [2, true],
    ]);
    assert.equal(again.alerts[0]?.activeAtMs, 2);
    assert.equal(again.alerts[0].resolvedAtMs, undefined);
  });

  test('keep firing for keep_firing_for, counted from the last sample', () => {
    const rule = { ...base, keepFiringForMs: 100 };
    const { states } = run(rule, [
      [0, true],
      [50, false],
      [100, true],
      [150, false],
      [249, false],
      [250, false],
    ]);
    assert.deepEqual(states, ['firing', 'firing', 'firing', 'firing', 'firing', 'inactive']);
  });

  test('begin to wait again after an outage of more than an hour', () => {
    const rule = { ...base, forMs: 2 * 3_600_000 };
    const short = run(rule, [
      [0, true],
      [3_600_000, true],
      [7_200_000, true],
    ]);
    assert.deepEqual(short.states, ['pending', 'pending', 'firing']);
    const long = run(rule, [
      [0, true],
      [7_200_000, true],
    ]);
    assert.deepEqual(long.states, ['pending', 'pending']);
  });

  test('fire between evaluations that are more than an hour apart', () => {
    const rule = { ...base, forMs: 2 * 3_600_000 };
    const times = [0, 1, 2].map((i) => [i * 7_200_000, true] as const);
    assert.deepEqual(run(rule, times, 7_200_000).states, ['pending', 'firing', 'firing']);
  });

  test('fail where two samples get the same labels', () => {
    const samples = [api, { labels: { job: 'web' }, value: 0 }];
    const rule = { ...base, labels: { job: 'all' } };
    assert.throws(
      () =>
        nextAlerts(rule, { samples, atMs: 0, previousMs: undefined, intervalMs: 1, alerts: [] }),
      /cannot create two alerts with the labels/,
    );
  });
});
