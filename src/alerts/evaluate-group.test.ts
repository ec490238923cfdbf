/** Evaluations of a group whose rules change. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AlertingRule, GroupState, RuleGroup } from '../model/rules.ts';
import { evaluateGroup } from './evaluate-group.ts';
import { downRule } from '../../test/alerts/down-rule.ts';

const owner = { accountId: 'account', streamId: 'stream' };
const samples = [{ labels: { job: 'a' }, value: 0 }];

function groupOf(rule: Partial<AlertingRule>): RuleGroup {
  const rules = [{ ...downRule, ...rule }];
  return { name: 'group', intervalMs: 1_000, queryOffsetMs: 0, limit: 0, rules };
}

test('another order of the labels of a rule keeps its alerts', async () => {
  const labels = { severity: 'page', team: 'shop' };
  const { severity, team } = labels;
  let state: GroupState | undefined;
  for (const [atMs, ordered] of [labels, { team, severity }].entries()) {
    const group = groupOf({ labels: ordered, forMs: 60_000 });
    ({ state } = await evaluateGroup({ ...owner, group, state }, atMs, async () => samples));
  }
  const alerts = Object.values(state!.rules).flatMap((rule) => rule.alerts);
  assert.deepEqual(
    alerts.map((alert) => [alert.state, alert.activeAtMs]),
    [['pending', 0]],
  );
});

test('a rule that failed does not fail any more once it is removed', async () => {
  const query = async () => samples;
  const first = groupOf({});
  let { state } = await evaluateGroup({ ...owner, group: first, state: undefined }, 0, query);
  const fail = () => Promise.reject(new Error('timeout'));
  ({ state } = await evaluateGroup({ ...owner, group: first, state }, 1_000, fail));
  const renamed = groupOf({ name: 'Gone' });
  ({ state } = await evaluateGroup({ ...owner, group: renamed, state }, 2_000, query));
  const rules = Object.values(state.rules);
  assert.deepEqual(
    rules.map(({ health, alerts }) => [health, alerts[0]?.state]),
    [
      ['ok', 'firing'],
      ['ok', 'inactive'],
    ],
  );
});
