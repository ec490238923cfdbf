/** The evaluator over a directory in memory: which evaluations are due. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Stream } from '../model/account.ts';
import type { GroupState, Rule, RuleGroup, RuleQuery, RuleSample } from '../model/rules.ts';
import { until } from '../../test/harness/until.ts';
import { type EvaluatorParts, openEvaluator } from './evaluator.ts';
import { downRule } from '../../test/alerts/down-rule.ts';

const group: RuleGroup = {
  name: 'group',
  intervalMs: 1_000,
  queryOffsetMs: 0,
  limit: 0,
  rules: [
    {
      kind: 'recording',
      name: 'one',
      query: { type: 'prometheus', expr: 'vector(1)' },
      labels: {},
    },
  ],
};

const sample = { labels: { job: 'a' }, value: 1 };

interface OpenOptions {
  readonly rules?: RuleGroup['rules'];
  readonly state?: GroupState;
  /** Saved by another holder just before this one gets the lease. */
  readonly savedBefore?: GroupState;
}

/** @returns an evaluator, and a wait for its next state that is saved. */
function openWith(
  now: () => number,
  query: EvaluatorParts['query'] = async () => [],
  { rules, state: earlier, savedBefore }: OpenOptions = {},
) {
  let state = earlier;
  let { intervalMs } = group;
  let lists = 0;
  let isDeleted = false;
  let isStreamDeleted = false;
  const records: { samples: number; ended: number }[] = [];
  const recordedAtMs: number[] = [];
  let saved = Promise.withResolvers<GroupState>();
  const events = new Proxy({}, { get: () => () => {} }) as EvaluatorParts['events'];
  const evaluator = openEvaluator({
    rules: {
      listRuleGroups: async () => {
        lists++;
        if (isDeleted) return [];
        const stored = { accountId: 'account', streamId: 'stream', state, updatedAt: '' };
        return [{ ...stored, group: { ...group, intervalMs, ...(rules && { rules }) } }];
      },
      saveRuleState: async (_key, next) => {
        state = next;
        saved.resolve(next);
        saved = Promise.withResolvers();
        return true;
      },
      holdLease: async () => {
        state = savedBefore ?? state;
        return { name: 'alerts', epoch: 1 };
      },
      releaseLease: async () => {},
      getStream: async () => (isStreamDeleted ? undefined : ({} as Stream)),
    },
    query,
    record: async (_owner, { atMs, samples, ended }) => {
      recordedAtMs.push(atMs);
      records.push({ samples: samples.length, ended: ended.length });
    },
    countLate: async () => undefined,
    notify: async () => {},
    events,
    now,
    holder: 'test',
  });
  return {
    records,
    recordedAtMs,
    setDeleted: (next: boolean) => {
      isDeleted = next;
    },
    deleteStream: () => {
      isDeleted = true;
      isStreamDeleted = true;
    },
    close: () => evaluator.close(),
    nextSaved: () => saved.promise,
    forgetState: () => {
      state = undefined;
    },
    setInterval: (ms: number) => {
      intervalMs = ms;
    },
    lists: () => lists,
  };
}

test('a group that was deleted and saved again between two turns is evaluated', async (t) => {
  const evaluator = openWith(Date.now);
  t.after(evaluator.close);
  const { evaluatedAtMs } = await evaluator.nextSaved();
  evaluator.forgetState();
  assert.ok((await evaluator.nextSaved()).evaluatedAtMs > evaluatedAtMs);
});

test('a group is evaluated after the clock was set back', async (t) => {
  let aheadMs = 86_400_000;
  const evaluator = openWith(() => Date.now() + aheadMs);
  t.after(evaluator.close);
  const { evaluatedAtMs } = await evaluator.nextSaved();
  aheadMs = 0;
  assert.ok((await evaluator.nextSaved()).evaluatedAtMs < evaluatedAtMs);
});

test('an evaluation that ended while the lease was handed over is not repeated', async (t) => {
  const first = openWith(Date.now, async () => [sample]);
  const state = await first.nextSaved();
  const savedBefore = await first.nextSaved();
  await first.close();
  const now = () => savedBefore.evaluatedAtMs;
  const second = openWith(now, async () => [sample], { state, savedBefore });
  t.after(second.close);
  await until(() => second.lists() > 2, { what: 'turns of the evaluator' });
  assert.deepEqual(second.records, []);
});

test('a longer interval does not evaluate a group in its past', async (t) => {
  const startedMs = Date.now();
  let nowMs = Date.UTC(2026, 0, 1);
  const evaluator = openWith(() => nowMs + Date.now() - startedMs);
  t.after(evaluator.close);
  const { evaluatedAtMs } = await evaluator.nextSaved();
  evaluator.setInterval(10 * 86_400_000);
  const next = evaluator.nextSaved();
  const lists = evaluator.lists();
  await until(() => evaluator.lists() > lists + 1, { what: 'turns of the evaluator' });
  nowMs += 10 * 86_400_000;
  assert.ok((await next).evaluatedAtMs > evaluatedAtMs);
});

test('series end with their samples, but not where the rule fails', async (t) => {
  const answers: (readonly RuleSample[] | Error)[] = [[sample], new Error('timeout'), [sample], []];
  const evaluator = openWith(Date.now, async () => {
    const answer = answers.shift() ?? [];
    if (answer instanceof Error) throw answer;
    return answer;
  });
  t.after(evaluator.close);
  while (answers.length > 0) await evaluator.nextSaved();
  assert.deepEqual(evaluator.records, [
    { samples: 1, ended: 0 },
    { samples: 1, ended: 0 },
    { samples: 0, ended: 1 },
  ]);
});

test('series that end while no evaluator runs are marked by the next one', async (t) => {
  const rules = [...group.rules, downRule];
  const first = openWith(Date.now, async () => [sample], { rules });
  const state = await first.nextSaved();
  await first.close();
  const readBack: RuleQuery[] = [];
  const query: EvaluatorParts['query'] = async (_owner, asked, atMs) => {
    if (atMs !== state.evaluatedAtMs) return [];
    readBack.push(asked);
    return [{ labels: { job: 'a', __name__: 'one' }, value: 1 }];
  };
  const second = openWith(Date.now, query, { rules, state });
  t.after(second.close);
  await second.nextSaved();
  const expr = 'last_over_time({__name__="one"}[1ms])';
  assert.deepEqual(readBack, [{ type: 'prometheus', expr }]);
  assert.deepEqual(second.records, [{ samples: 0, ended: 3 }]);
});

test('a label with a lone surrogate is that of the series read back', async (t) => {
  const [rule] = group.rules as [Rule];
  const rules = [{ ...rule, labels: { cut: 'a\ud83d' } }];
  const first = openWith(Date.now, async () => [sample], { rules });
  const state = await first.nextSaved();
  await first.close();
  const readBack = { __name__: 'one', cut: 'a\ufffd', job: 'a' };
  const query: EvaluatorParts['query'] = async (_owner, _query, atMs) =>
    atMs === state.evaluatedAtMs ? [{ labels: readBack, value: 1 }] : [sample];
  const second = openWith(Date.now, query, { rules, state });
  t.after(second.close);
  await second.nextSaved();
  assert.deepEqual(second.records, [{ samples: 1, ended: 0 }]);
});

test('a failure to read the recorded series back does not delay alerts', async (t) => {
  const first = openWith(Date.now, async () => [sample]);
  const state = await first.nextSaved();
  await first.close();
  const query: EvaluatorParts['query'] = async (_owner, _query, atMs) => {
    if (atMs === state.evaluatedAtMs) throw new Error('timeout');
    return [sample];
  };
  const second = openWith(Date.now, query, { state });
  t.after(second.close);
  assert.equal((await second.nextSaved()).rules[Object.keys(state.rules)[0]!]?.health, 'ok');
  assert.deepEqual(second.records, [{ samples: 1, ended: 0 }]);
});

test('series of a deleted group end', async (t) => {
  const rules = [...group.rules, downRule];
  const evaluator = openWith(Date.now, async () => [sample], { rules });
  t.after(evaluator.close);
  await evaluator.nextSaved();
  evaluator.setDeleted(true);
  const { records, recordedAtMs } = evaluator;
  await until(() => records.at(-1)?.ended === 3, { what: 'the end of the series' });
  const [last = 0, end] = recordedAtMs.slice(-2);
  assert.equal(end, last + 1);
  evaluator.forgetState();
  evaluator.setDeleted(false);
  await evaluator.nextSaved();
  assert.deepEqual(records.at(-1), { samples: 3, ended: 0 });
  assert.ok(recordedAtMs.at(-1)! > end, 'a new group continues them');
});

test('series of a group that is deleted right after a start end', async (t) => {
  const first = openWith(Date.now, async () => [sample], { rules: [downRule] });
  const state = await first.nextSaved();
  await first.close();
  const second = openWith(
    () => state.evaluatedAtMs,
    async () => [],
    { rules: [downRule], state },
  );
  t.after(second.close);
  await until(() => second.lists() > 0, { what: 'the first turn' });
  second.setDeleted(true);
  await until(() => second.records.length > 0, { what: 'the end of the series' });
  assert.deepEqual(second.records, [{ samples: 0, ended: 2 }]);
  assert.deepEqual(second.recordedAtMs, [state.evaluatedAtMs + 1]);
});

test('nothing is recorded of a deleted stream', async (t) => {
  const evaluator = openWith(Date.now, async () => [sample]);
  t.after(evaluator.close);
  await evaluator.nextSaved();
  const { length } = evaluator.records;
  evaluator.deleteStream();
  const lists = evaluator.lists();
  await until(() => evaluator.lists() > lists + 1, { what: 'turns of the evaluator' });
  await evaluator.close();
  assert.equal(evaluator.records.length, length);
});
