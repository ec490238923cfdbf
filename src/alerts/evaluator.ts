/**
 * Evaluates the rule groups of all accounts on time. Of all nodes one holds the lease; the
 * directory refuses states of an earlier holder, so that no alert is decided twice.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Directory, Lease, RuleStore } from '../directory/port.ts';
import { type GroupRunParts, GroupRuns } from './group-runs.ts';

export interface EvaluatorParts extends GroupRunParts {
  readonly rules: Pick<
    RuleStore,
    'listRuleGroups' | 'saveRuleState' | 'holdLease' | 'releaseLease'
  > &
    Pick<Directory, 'getStream'>;
  /** Of the lease; unique among processes that use the directory at once. */
  readonly holder: string;
}

const leaseName = 'alerts';
const leaseMs = 15_000;
const renewMs = 5_000;
const turnMs = 1_000;
const idleMs = 2_000;

export function openEvaluator(parts: EvaluatorParts) {
  const { rules, events, holder } = parts;
  const stop = new AbortController();
  const runs = new GroupRuns(parts, stop.signal);
  let lease: Lease | undefined;
  let renewAt = 0;

  /** @returns ms until the next turn. */
  async function turn(): Promise<number> {
    let stored = await rules.listRuleGroups(undefined);
    if (stored.length === 0 && lease === undefined) return idleMs;
    if (performance.now() >= renewAt) {
      const begunAt = performance.now();
      const held = await rules.holdLease(leaseName, holder, leaseMs);
      // The holder before may have saved states since they were listed.
      if (held && held.epoch !== lease?.epoch) stored = await rules.listRuleGroups(undefined);
      lease = held;
      renewAt = begunAt + renewMs;
      events.leaseHeld(lease !== undefined);
    }
    if (lease === undefined) {
      runs.forgetAll();
      return renewMs;
    }
    runs.endDeleted(stored);
    for (const one of stored) runs.startIfDue(one, lease);
    return turnMs;
  }

  async function loop(): Promise<void> {
    while (!stop.signal.aborted) {
      let waitMs = renewMs;
      try {
        waitMs = await turn();
      } catch (error) {
        lease = undefined;
        renewAt = 0;
        events.evaluatorFailed(error);
      }
      await sleep(waitMs, undefined, { signal: stop.signal }).catch(() => undefined);
    }
  }

  const looping = loop();
  return {
    /** Finishes evaluations in flight and releases the lease. */
    async close(): Promise<void> {
      stop.abort();
      await looping;
      await runs.settled();
      if (lease === undefined) return;
      await rules.releaseLease(lease).catch((error: unknown) => events.evaluatorFailed(error));
    },
  };
}
