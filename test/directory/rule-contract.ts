/** Contract of the directory: rule groups and leases. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'node:test';
import type { Directory } from '../../src/directory/port.ts';
import type { GroupState, RuleGroup } from '../../src/model/rules.ts';
import { rejectsWith } from './fixtures.ts';

const group: RuleGroup = {
  name: 'a',
  intervalMs: 60_000,
  queryOffsetMs: 0,
  limit: 0,
  rules: [{ kind: 'recording', name: 'b', query: { type: 'prometheus', expr: 'c' }, labels: {} }],
};
const state: GroupState = { evaluatedAtMs: 1, seconds: 0.5, rules: {}, failures: [] };

/** @param current returns the directory of the running test. */
export function ruleContract(current: () => Directory): void {
  const createStream = async () => {
    const { accountId } = await current().createAccount({ name: 'rules', eventsPerSecond: null });
    return current().createStream({ accountId, name: 'rules', retentionDays: 1 });
  };

  test('keeps rule groups of a stream until they or the stream are deleted', async () => {
    const directory = current();
    const { accountId, streamId } = await createStream();
    await directory.putRuleGroups(streamId, [{ ...group, name: 'z' }, group], { maxGroups: 2 });
    const [first, second] = await directory.listRuleGroups(accountId);
    assert.deepEqual(first?.group, group);
    assert.equal(first.streamId, streamId);
    assert.equal(first.state, undefined);
    assert.equal(second?.group.name, 'z');
    const full = directory.putRuleGroups(streamId, [{ ...group, name: 'third' }], { maxGroups: 2 });
    await rejectsWith('conflict', full);
    assert.equal((await directory.listRuleGroups(accountId)).length, 2);
    assert.equal(await directory.deleteRuleGroup({ streamId, name: 'z' }), true);
    assert.equal(await directory.deleteRuleGroup({ streamId, name: 'z' }), false);
    await directory.deleteStream(streamId);
    assert.deepEqual(await directory.listRuleGroups(accountId), []);
  });

  test('of two changes of the same rule groups the second is refused', async () => {
    const directory = current();
    const { accountId, streamId } = await createStream();
    const other = { ...group, name: 'other' };
    const put = (groups: readonly RuleGroup[], expected: readonly RuleGroup[]) =>
      directory.putRuleGroups(streamId, groups, { maxGroups: 9, expected });
    const outcomes = await Promise.allSettled([put([group], []), put([other], [])]);
    assert.deepEqual(outcomes.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
    const stored = async () => (await directory.listRuleGroups(accountId)).map((one) => one.group);
    const [only] = await stored();
    assert.deepEqual(await stored(), [only]);
    await rejectsWith('precondition_failed', put([group, other], []));
    await put([group, other], [only!]);
    assert.deepEqual(await stored(), [group, other]);
    const changed = { ...group, limit: 7 };
    await put([changed], [group, other]);
    const key = { streamId, name: group.name };
    await rejectsWith('precondition_failed', directory.deleteRuleGroup(key, group));
    assert.equal(await directory.deleteRuleGroup(key, changed), true);
    await rejectsWith('precondition_failed', directory.deleteRuleGroup(key, changed));
    assert.deepEqual(await stored(), [other]);
  });

  test('a replaced rule group keeps its state', async () => {
    const directory = current();
    const { accountId, streamId } = await createStream();
    const key = { streamId, name: 'a' };
    await directory.putRuleGroups(streamId, [group], { maxGroups: 2 });
    const lease = await directory.holdLease('state', 'me', 60_000);
    assert.ok(lease);
    assert.equal(await directory.saveRuleState(key, state, lease), true);
    await directory.putRuleGroups(streamId, [{ ...group, intervalMs: 1_000 }], { maxGroups: 2 });
    const [stored] = await directory.listRuleGroups(accountId);
    assert.deepEqual(stored?.state, state);
    assert.equal(stored.group.intervalMs, 1_000);
    assert.equal(await directory.saveRuleState({ ...key, name: 'gone' }, state, lease), false);
  });

  test('a lease has one holder, and fences the state that an earlier one saves', async () => {
    const directory = current();
    const { streamId } = await createStream();
    await directory.putRuleGroups(streamId, [group], { maxGroups: 1 });
    const key = { streamId, name: 'a' };
    const first = await directory.holdLease('fence', 'first', 1);
    assert.ok(first);
    await sleep(20);
    const second = await directory.holdLease('fence', 'second', 60_000);
    assert.ok(second && second.epoch > first.epoch);
    assert.equal(await directory.holdLease('fence', 'first', 60_000), undefined);
    assert.deepEqual(await directory.holdLease('fence', 'second', 60_000), second);
    assert.equal(await directory.saveRuleState(key, state, first), false);
    assert.equal(await directory.saveRuleState(key, state, second), true);
    await directory.releaseLease(first);
    assert.equal(await directory.holdLease('fence', 'first', 60_000), undefined);
    await directory.releaseLease(second);
    assert.ok(await directory.holdLease('fence', 'first', 60_000));
  });

  test('keeps notifiers of an account', async () => {
    const directory = current();
    const { accountId } = await createStream();
    const kind = 'webhook' as const;
    const notifier = { accountId, name: 'b', kind, url: 'https://h.example', secret: 's' };
    const second = await directory.createNotifier(notifier, 2);
    const first = await directory.createNotifier({ ...notifier, name: 'a' }, 2);
    await rejectsWith('conflict', directory.createNotifier({ ...notifier, name: 'c' }, 2));
    assert.deepEqual(await directory.listNotifiers(accountId), [first, second]);
    const noted = { lastFailureAt: '2026-04-01T08:30:00.000Z', lastFailure: 'it answered 500' };
    const lastSuccessAt = '2026-04-01T08:31:00.000Z';
    await directory.noteDeliveries(first.notifierId, noted);
    await directory.noteDeliveries(first.notifierId, { lastSuccessAt });
    await directory.noteDeliveries(randomUUID(), noted);
    const [changed, unchanged] = await directory.listNotifiers(accountId);
    assert.deepEqual(changed, { ...first, ...noted, lastSuccessAt });
    assert.deepEqual(unchanged, second);
    const other = await createStream();
    assert.equal(await directory.deleteNotifier(other.accountId, first.notifierId), false);
    assert.equal(await directory.deleteNotifier(accountId, first.notifierId), true);
    assert.deepEqual(await directory.listNotifiers(accountId), [second]);
  });
}
