/** Evaluations of a group whose rules change. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GroupState, RuleGroup } from '../model/rules.ts';
import { evaluateGroup } from './evaluate-group.ts';

test('another order of the labels of a rule keeps its alerts', async () => {
  const owner = { accountId: 'account', streamId: 'stream' };
  const labels = { severity: 'page', team: 'shop' };
  const { severity, team } = labels;
  let state: GroupState | undefined;
  for (const [atMs, ordered] of [labels, { team, severity }].entries()) {
    const group: RuleGroup = {
      name: 'group',
      intervalMs: 1_000,
      queryOffsetMs: 0,
      limit: 0,
      rules: [
        {
          kind: 'alerting',
          name: 'Down',
          query: { type: 'prometheus', expr: 'up == 0' },
          labels: ordered,
          annotations: {},
          forMs: 60_000,
          keepFiringForMs: 0,
        },
      ],
    };
    const samples = [{ labels: { job: 'a' }, value: 0 }];
    ({ state } = await evaluateGroup({ ...owner, group, state }, atMs, async () => samples));
  }
  const alerts = Object.values(state!.rules).flatMap((rule) => rule.alerts);
  assert.deepEqual(
    alerts.map((alert) => [alert.state, alert.activeAtMs]),
    [['pending', 0]],
  );
});
