/** Previews: evaluations over past times, and their limits. */
import assert from 'node:assert/strict';
import { beforeEach, suite, test, type TestContext } from 'node:test';
import { AppError } from '../model/errors.ts';
import type { AlertingRule, Rule, RuleGroup, RuleSample } from '../model/rules.ts';
import { slotOf } from './group-runs.ts';
import { createPreview, type PreviewParts } from './preview.ts';
import { downRule } from '../../test/alerts/down-rule.ts';

const owner = { accountId: 'account', streamId: 'stream' };
const minuteMs = 60_000;

const down: AlertingRule = { ...downRule, forMs: 2 * minuteMs };

function groupOf(...rules: Rule[]): RuleGroup {
  return { name: 'group', intervalMs: minuteMs, queryOffsetMs: 0, limit: 0, rules };
}

/** The first time at which the group is due. */
const startMs = slotOf({ ...owner, group: groupOf() }, minuteMs);
const toMinute = (timeMs: number) => (timeMs - startMs) / minuteMs;

/** Selects `job="a"` in these minutes. */
function partsAt(minutes: readonly number[]): PreviewParts & { readonly reads: unknown[] } {
  const vector: RuleSample[] = [{ labels: { job: 'a' }, value: 0 }];
  const reads: unknown[] = [];
  return {
    reads,
    queryMetrics: async (_owner, expr, times) => {
      reads.push({ expr, ...times });
      return new Map(minutes.map((minute) => [startMs + minute * minuteMs, vector]));
    },
    queryLogs: {
      at: async (_owner, _query, atMs) => (minutes.includes(toMinute(atMs)) ? vector : []),
      over: async () => undefined,
    },
  };
}

const hour = { sinceMs: startMs, untilMs: startMs + 60 * minuteMs, stepMs: minuteMs };

suite('previews', () => {
  const rules: readonly AlertingRule[] = [
    down,
    {
      ...down,
      query: {
        type: 'logs',
        query: '',
        stat: 'count',
        by: '',
        windowMs: minuteMs,
        condition: undefined,
      },
    },
  ];
  for (const rule of rules) {
    test(`lists when alerts on ${rule.query.type} were pending, fired and ended`, async () => {
      const parts = partsAt([1, 10, 11, 12, 13, 14, 58, 59, 60]);
      const { alerts, evaluations } = await createPreview(parts)(owner, groupOf(rule), hour);
      assert.equal(evaluations, 61);
      const times = alerts.map(
        ({ alert: { state, activeAtMs, firedAtMs = NaN }, endedAtMs = NaN }) => [
          state,
          ...[activeAtMs, firedAtMs, endedAtMs].map(toMinute),
        ],
      );
      assert.deepEqual(times, [
        ['pending', 1, NaN, 2],
        ['inactive', 10, 12, 15],
        ['firing', 58, 60, NaN],
      ]);
    });
  }

  test('fires at steps of more than an hour', async () => {
    const stepMs = 90 * minuteMs;
    const sinceMs = slotOf({ ...owner, group: { ...groupOf(), intervalMs: stepMs } }, stepMs);
    const times = { sinceMs, untilMs: sinceMs + 2 * stepMs, stepMs };
    const minutes = [0, 90, 180].map((minute) => minute + toMinute(sinceMs));
    const { alerts } = await createPreview(partsAt(minutes))(owner, groupOf(down), times);
    assert.deepEqual(
      alerts.map(({ alert: { state, firedAtMs } }) => [state, firedAtMs]),
      [['firing', sinceMs + stepMs]],
    );
  });

  test('reads the samples of an expression once, without recording rules', async () => {
    const parts = partsAt([]);
    const { query } = down;
    const record: Rule = { kind: 'recording', name: 'a', query: { ...query }, labels: {} };
    const group = { ...groupOf(down, { ...down, name: 'Again' }, record), queryOffsetMs: 1_000 };
    await createPreview(parts)(owner, group, hour);
    const times = { startMs: startMs - 1_000, endMs: hour.untilMs - 1_000, stepMs: minuteMs };
    assert.deepEqual(parts.reads, [{ expr: 'up == 0', ...times }]);
  });

  test('evaluates when the group is due', async () => {
    const parts = partsAt([]);
    const preview = (sinceMs: number, untilMs: number) =>
      createPreview(parts)(owner, groupOf(down), { sinceMs, untilMs, stepMs: minuteMs });
    const between = await preview(hour.sinceMs + 1, hour.untilMs + minuteMs - 1);
    assert.equal(between.evaluations, 60);
    const times = { startMs: startMs + minuteMs, endMs: hour.untilMs, stepMs: minuteMs };
    assert.deepEqual(parts.reads, [{ expr: 'up == 0', ...times }]);
    const none = await preview(startMs + 1, startMs + minuteMs - 1);
    assert.deepEqual(none, { alerts: [], evaluations: 0, failures: [] });
  });

  test('counts evaluations that fail', async () => {
    const queryMetrics = () => Promise.reject(new AppError('execution', 'too many samples'));
    const preview = createPreview({ ...partsAt([]), queryMetrics });
    const { alerts, failures } = await preview(owner, groupOf(down), hour);
    assert.deepEqual(alerts, []);
    assert.deepEqual(failures, [{ rule: 'Down', evaluations: 61, lastError: 'too many samples' }]);
  });

  test('refuses more evaluations and more alerts than the limits, which it names', async () => {
    const many = Array.from({ length: 1001 }, (_, i) => ({ labels: { job: `${i}` }, value: 0 }));
    const halves = [many.slice(0, 600), many.slice(600)];
    const queryMetrics: PreviewParts['queryMetrics'] = async () =>
      new Map(halves.map((half, i) => [startMs + i * minuteMs, half]));
    const preview = createPreview({ ...partsAt([]), queryMetrics });
    await assert.rejects(
      preview(owner, groupOf(down), { ...hour, stepMs: 1_000 }),
      /cannot preview 360[01] evaluations of group "group" every 1 s, at most 1500/,
    );
    await assert.rejects(
      preview(owner, groupOf(down), hour),
      /cannot preview more than 1000 alerts/,
    );
  });

  test('ends when the client disconnects', async () => {
    const client = new AbortController();
    const steps: number[] = [];
    const at: PreviewParts['queryLogs']['at'] = async (_owner, _query, atMs) => {
      steps.push(toMinute(atMs));
      if (toMinute(atMs) === 2) client.abort();
      return [];
    };
    const preview = createPreview({
      ...partsAt([]),
      queryLogs: { at, over: async () => undefined },
    });
    await assert.rejects(
      preview(owner, groupOf(rules[1]!), hour, client.signal),
      /the client has disconnected/,
    );
    assert.deepEqual(steps, [0, 1, 2]);
  });

  test('begins no read for a client that has disconnected', async () => {
    const client = new AbortController();
    let reads = 0;
    const queryMetrics: PreviewParts['queryMetrics'] = async () => {
      reads += 1;
      client.abort();
      return new Map();
    };
    const other = { ...down, query: { type: 'prometheus' as const, expr: 'other' } };
    const preview = createPreview({ ...partsAt([]), queryMetrics });
    await assert.rejects(
      preview(owner, groupOf(down, other), hour, client.signal),
      /the client has disconnected/,
    );
    assert.equal(reads, 1);
  });

  suite('of slow reads', () => {
    let seconds = 0;
    let reads: number[] = [];
    const takes = (duration: number) => {
      reads.push(seconds);
      seconds += duration;
    };
    beforeEach((context) => {
      [seconds, reads] = [0, []];
      (context as TestContext).mock.method(performance, 'now', () => seconds * 1_000);
    });
    const queryMetrics: PreviewParts['queryMetrics'] = async () => {
      takes(12);
      return new Map();
    };

    const previewOf = (count: number) => {
      const slow = Array.from({ length: count }, (_, n) => ({
        ...down,
        query: { type: 'prometheus' as const, expr: `up == ${n}` },
      }));
      return createPreview({ ...partsAt([]), queryMetrics })(owner, groupOf(...slow), hour);
    };

    test('begins none after 30 seconds', async () => {
      await assert.rejects(
        previewOf(4),
        /cannot preview 61 evaluations of group "group" within 30 s/,
      );
      assert.deepEqual(reads, [0, 12, 24]);
    });

    test('waits for the one in progress', async () => {
      assert.equal((await previewOf(3)).evaluations, 61);
    });

    test('begins none of one step where all steps took too long', async () => {
      const at = async () => (takes(1), []);
      const over = async () => (takes(31), undefined);
      const preview = createPreview({ ...partsAt([]), queryLogs: { at, over } });
      await assert.rejects(preview(owner, groupOf(rules[1]!), hour), /within 30 s/);
      assert.deepEqual(reads, [0]);
    });
  });
});
