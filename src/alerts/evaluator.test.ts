/** The evaluator over a directory in memory: which evaluations are due. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GroupState, RuleGroup, RuleSample } from '../model/rules.ts';
import { type EvaluatorParts, openEvaluator } from './evaluator.ts';

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

/** @returns an evaluator, and a wait for its next state that is saved. */
function openWith(now: () => number, query: EvaluatorParts['query'] = async () => []) {
  let state: GroupState | undefined;
  const records: { samples: number; ended: number }[] = [];
  let saved = Promise.withResolvers<GroupState>();
  const events = new Proxy({}, { get: () => () => {} }) as EvaluatorParts['events'];
  const evaluator = openEvaluator({
    rules: {
      listRuleGroups: async () => [
        { accountId: 'account', streamId: 'stream', group, state, updatedAt: '' },
      ],
      saveRuleState: async (_key, next) => {
        state = next;
        saved.resolve(next);
        saved = Promise.withResolvers();
        return true;
      },
      holdLease: async () => ({ name: 'alerts', epoch: 1 }),
      releaseLease: async () => {},
    },
    query,
    record: async (_owner, { samples, ended }) => {
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
    close: () => evaluator.close(),
    nextSaved: () => saved.promise,
    forgetState: () => {
      state = undefined;
    },
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
