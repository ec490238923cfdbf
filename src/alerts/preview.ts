/** What the alerts of a rule group would have done in the past, by evaluations in quick motion. */
import { setImmediate } from 'node:timers/promises';
import { AppError } from '../model/errors.ts';
import {
  type Alert,
  type GroupState,
  type LogsRuleQuery,
  type PreviewGroup,
  type PreviewTimes,
  ruleKeys,
  type RuleFailures,
  type RuleGroup,
  type RuleQuery,
  type RuleSample,
} from '../model/rules.ts';
import type { QueryTimes } from '../promql/evaluation.ts';
import { labelsKey } from '../rules/alerts.ts';
import { evaluateGroup, type GroupOwner, type QueryRule } from './evaluate-group.ts';
import { slotOf } from './group-runs.ts';

type Vectors = ReadonlyMap<number, readonly RuleSample[]>;

export interface PreviewParts {
  /** The vectors of all steps, by Unix ms. Times without samples are absent. */
  readonly queryMetrics: (
    owner: GroupOwner,
    expr: string,
    times: QueryTimes,
    disconnected: AbortSignal | undefined,
  ) => Promise<Vectors>;
  readonly queryLogs: {
    at(owner: GroupOwner, query: LogsRuleQuery, atMs: number): Promise<readonly RuleSample[]>;
    /** undefined if each step must be read separately. */
    over(owner: GroupOwner, query: LogsRuleQuery, times: QueryTimes): Promise<Vectors | undefined>;
  };
}

const maxEvaluations = 1_500;
const maxAlerts = 1_000;
/** No read of a group begins later. */
const maxSeconds = 30;

export function createPreview(parts: PreviewParts): PreviewGroup {
  return async (owner, all, times, disconnected) => {
    const rules = all.rules.filter(({ kind }) => kind === 'alerting');
    const group = { ...all, rules, intervalMs: times.stepMs };
    const steps = toSteps({ ...owner, group }, times);
    if (steps.length === 0) return { alerts: [], evaluations: 0, failures: [] };
    const deadline = new Deadline(group, steps.length);
    const query = createQuery(parts, { group, steps, deadline, disconnected });
    const seen = new Seen(group);
    let state: GroupState | undefined;
    for (const atMs of steps) {
      ({ state } = await evaluateGroup({ ...owner, group, state }, atMs, query));
      if (deadline.exceeded !== undefined) throw deadline.exceeded;
      assertConnected(disconnected);
      seen.add(state);
      // Vectors in memory do not let other requests run.
      await setImmediate();
    }
    return {
      alerts: seen.alerts(times.stepMs),
      evaluations: steps.length,
      failures: [...seen.failures.values()],
    };
  };
}

/** Ends `maxSeconds` after its creation. */
class Deadline {
  /** Of the first check that failed. */
  exceeded: AppError | undefined;
  readonly #endMs = performance.now() + maxSeconds * 1000;
  readonly #message: string;

  constructor({ name }: RuleGroup, evaluations: number) {
    this.#message =
      `cannot preview ${evaluations} evaluations of group ${JSON.stringify(name)} ` +
      `within ${maxSeconds} s: shorten the time, or give a longer step`;
  }

  /** @throws AppError after the end */
  check(): void {
    if (performance.now() <= this.#endMs) return;
    this.exceeded ??= new AppError('query_timeout', this.#message);
    throw this.exceeded;
  }
}

/** The times at which the group is due, ascending; none in a range shorter than a step. */
function toSteps(
  stored: GroupOwner & { readonly group: RuleGroup },
  { sinceMs, untilMs, stepMs }: PreviewTimes,
): number[] {
  const { name } = stored.group;
  const lastMs = slotOf(stored, untilMs);
  const count = Math.max(0, Math.floor((lastMs - sinceMs) / stepMs) + 1);
  if (count > maxEvaluations) {
    throw new AppError(
      'malformed',
      `cannot preview ${count} evaluations of group ${JSON.stringify(name)} every ` +
        `${stepMs / 1000} s, at most ${maxEvaluations}: shorten the time, or give a longer step`,
      { parameter: 'step' },
    );
  }
  return Array.from({ length: count }, (_, i) => lastMs - (count - 1 - i) * stepMs);
}

function assertConnected(disconnected: AbortSignal | undefined): void {
  if (disconnected?.aborted !== true) return;
  throw new AppError('query_timeout', 'cannot preview: the client has disconnected');
}

interface QueryContext {
  readonly group: RuleGroup;
  readonly steps: readonly number[];
  readonly deadline: Deadline;
  readonly disconnected: AbortSignal | undefined;
}

/** Reads the samples of a query once for all steps, if that is possible. */
function createQuery(
  { queryMetrics, queryLogs }: PreviewParts,
  { group: { queryOffsetMs }, steps, deadline, disconnected }: QueryContext,
): QueryRule {
  const vectors = new Map<string, Promise<Vectors | undefined>>();
  const startMs = steps[0]! - queryOffsetMs;
  const endMs = steps.at(-1)! - queryOffsetMs;
  const stepMs = steps.length > 1 ? steps[1]! - steps[0]! : 1;
  const times = { startMs, endMs, stepMs };
  const readAll = (owner: GroupOwner, query: RuleQuery) =>
    query.type === 'logs'
      ? queryLogs.over(owner, query, times)
      : queryMetrics(owner, query.expr, times, disconnected);
  const check = () => {
    deadline.check();
    assertConnected(disconnected);
  };
  return async (owner, query, atMs) => {
    const key = JSON.stringify(query);
    if (!vectors.has(key)) {
      check();
      vectors.set(key, readAll(owner, query));
    }
    const read = await vectors.get(key);
    if (read !== undefined) return read.get(atMs) ?? [];
    check();
    return query.type === 'logs' ? queryLogs.at(owner, query, atMs) : [];
  };
}

/** Alerts and failures of all evaluations so far. */
class Seen {
  readonly failures = new Map<string, RuleFailures>();
  readonly #group: RuleGroup;
  readonly #keys: readonly string[];
  readonly #alerts = new Map<string, { readonly alert: Alert; readonly atMs: number }>();
  #lastMs = 0;

  constructor(group: RuleGroup) {
    this.#group = group;
    this.#keys = ruleKeys(group.rules);
  }

  /** @throws AppError for too many alerts */
  add({ rules, evaluatedAtMs: atMs }: GroupState): void {
    this.#lastMs = atMs;
    for (const [i, key] of this.#keys.entries()) {
      const { name } = this.#group.rules[i]!;
      const { alerts, health, lastError } = rules[key]!;
      if (health === 'err') {
        const evaluations = (this.failures.get(key)?.evaluations ?? 0) + 1;
        this.failures.set(key, { rule: name, evaluations, lastError });
      }
      for (const alert of alerts) {
        this.#alerts.set(`${i} ${alert.activeAtMs} ${labelsKey(alert.labels)}`, { alert, atMs });
      }
    }
    if (this.#alerts.size <= maxAlerts) return;
    throw new AppError(
      'malformed',
      `cannot preview more than ${maxAlerts} alerts of group ` +
        `${JSON.stringify(this.#group.name)}, reached at ${new Date(atMs).toISOString()}: ` +
        'aggregate the queries, or shorten the time',
      { parameter: 'rules' },
    );
  }

  alerts(stepMs: number) {
    const list = [...this.#alerts.values()].map(({ alert, atMs }) => {
      const goneMs = atMs < this.#lastMs ? atMs + stepMs : undefined;
      return { alert, endedAtMs: alert.resolvedAtMs ?? goneMs };
    });
    return list.toSorted((left, right) => left.alert.activeAtMs - right.alert.activeAtMs);
  }
}
