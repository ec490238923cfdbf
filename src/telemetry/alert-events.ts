/** Events of the evaluation of rules. */
import { type GroupState, ruleKeys, type RuleGroup } from '../model/rules.ts';
import { messageOf } from '../std/error-text.ts';
import { type Instruments, registerMetrics } from './instruments.ts';
import { alertMetrics } from './metrics.ts';

export type AlertEvents = ReturnType<typeof createAlertEvents>;

export function createAlertEvents({ log, metrics: registry }: Instruments) {
  const metrics = registerMetrics(registry, alertMetrics);
  return {
    /** Of this process. */
    leaseHeld: (isHeld: boolean) => metrics.weir_rules_lease_held.set(isHeld ? 1 : 0),
    groupEvaluated(streamId: string, group: RuleGroup, state: GroupState) {
      metrics.weir_rules_group_duration_seconds.observe(state.seconds);
      // Not those of removed rules, whose alerts are kept to resolve them.
      for (const key of ruleKeys(group.rules)) {
        const { health, lastError } = state.rules[key]!;
        const outcome = health === 'ok' ? 'ok' : 'failed';
        metrics.weir_rules_evaluations_total.inc({ outcome });
        if (health === 'err') {
          log.warn({ streamId, group: group.name, reason: lastError }, 'cannot evaluate a rule');
        }
      }
    },
    lateRows: (rows: number) => metrics.weir_rules_late_rows_total.inc(rows),
    countLateFailed: (streamId: string, group: string, error: unknown) =>
      log.warn({ streamId, group, err: error }, 'cannot count the late data of a rule group'),
    /** Evaluations that were due while the previous one ran, or no process evaluated. */
    slotsMissed: (slots: number) => metrics.weir_rules_missed_total.inc(Math.max(slots, 0)),
    recordFailed(streamId: string, group: string, error: unknown) {
      metrics.weir_rules_write_failures_total.inc();
      log.warn({ streamId, group, err: error }, 'cannot write the samples of a rule group');
    },
    notified: (kind: string) => metrics.weir_rules_notifications_total.inc({ kind, outcome: 'ok' }),
    notifyFailed(kind: string, notifierId: string, error: unknown) {
      metrics.weir_rules_notifications_total.inc({ kind, outcome: 'failed' });
      const reason = messageOf(error);
      const { cause } = error instanceof Error ? error : {};
      const detail = cause === undefined ? undefined : messageOf(cause);
      log.warn({ notifierId, reason, detail }, 'cannot notify of alerts; trying again');
    },
    evaluatorFailed: (error: unknown) =>
      log.warn({ err: error }, 'cannot evaluate rules; trying again'),
  };
}
