/** One evaluation of a rule group: the next state of its rules, and the samples to record. */
import {
  type Alert,
  type AlertingRule,
  type GroupState,
  type Rule,
  type RuleGroup,
  ruleKeys,
  type RuleQuery,
  type RuleSample,
  type RuleState,
  type StoredRuleGroup,
} from '../model/rules.ts';
import { compileAll, labelsKey, nextAlerts, resolveAll, sortLabels } from '../rules/alerts.ts';
import { messageOf } from '../std/error-text.ts';

export type GroupOwner = Pick<StoredRuleGroup, 'accountId' | 'streamId'>;

/** @param atMs Unix ms. @throws any error, whose message is that of the rule */
export type QueryRule = (
  owner: GroupOwner,
  query: RuleQuery,
  atMs: number,
) => Promise<readonly RuleSample[]>;

export interface GroupEvaluation {
  readonly state: GroupState;
  /** With `__name__`, by the key of the rule; those of rules that failed are absent. */
  readonly samples: ReadonlyMap<string, readonly RuleSample[]>;
}

/** Labels with `__name__`, by the key of the rule. */
export type RuleSeries = ReadonlyMap<string, readonly RuleSample['labels'][]>;

const maxAlerts = 1_000;
const maxSamples = 10_000;

/** Never throws: a failure is the state of its rule. @param atMs time of the evaluation, Unix ms */
export async function evaluateGroup(
  { group, state, ...owner }: Omit<StoredRuleGroup, 'updatedAt'>,
  atMs: number,
  query: QueryRule,
): Promise<GroupEvaluation> {
  const startedAt = performance.now();
  const keys = ruleKeys(group.rules);
  const samples = new Map<string, readonly RuleSample[]>();
  const rules: Record<string, RuleState> = {};
  for (const [i, rule] of group.rules.entries()) {
    const previous = state?.rules[keys[i]!];
    const begunAt = performance.now();
    const ended = () => ({ evaluatedAtMs: atMs, seconds: (performance.now() - begunAt) / 1000 });
    try {
      const found = await query(owner, rule.query, atMs - group.queryOffsetMs);
      const next = evaluateRule(rule, found, { group, atMs, previous });
      samples.set(keys[i]!, next.samples);
      rules[keys[i]!] = { health: 'ok', lastError: '', alerts: next.alerts, ...ended() };
    } catch (error) {
      const alerts = previous?.alerts ?? [];
      rules[keys[i]!] = { health: 'err', lastError: messageOf(error), alerts, ...ended() };
    }
  }
  const removed = Object.entries(state?.rules ?? {}).filter(([key]) => !Object.hasOwn(rules, key));
  for (const [key, rule] of removed) {
    const alerts = resolveAll(rule.alerts, atMs);
    // It is evaluated no longer: its last failure is of no interest, and its series end.
    if (alerts.length > 0) rules[key] = { ...rule, health: 'ok', lastError: '', alerts };
  }
  const seconds = (performance.now() - startedAt) / 1000;
  const failures = failureAlerts(group, { rules, state, atMs });
  return { state: { evaluatedAtMs: atMs, seconds, rules, failures }, samples };
}

/**
 * Series that an earlier process wrote at the last evaluation. Those of alerts follow from the
 * state; those of recording rules are read back, and unknown where the read fails. Never throws.
 */
export async function lastSeries(
  { group, state, ...owner }: Omit<StoredRuleGroup, 'updatedAt'>,
  query: QueryRule,
): Promise<RuleSeries> {
  const series = new Map<string, readonly RuleSample['labels'][]>();
  if (state === undefined) return series;
  for (const [key, { alerts }] of Object.entries(state.rules)) {
    series.set(key, labelsOf(alerts.flatMap(toAlertSeries)));
  }
  const atMs = state.evaluatedAtMs - group.queryOffsetMs;
  const keys = ruleKeys(group.rules);
  for (const [i, { kind, name }] of group.rules.entries()) {
    if (kind !== 'recording') continue;
    // Only samples of this millisecond: another sender may write series of the same name.
    const expr = `last_over_time({__name__=${JSON.stringify(name)}}[1ms])`;
    const found = await query(owner, { type: 'prometheus', expr }, atMs).catch(() => []);
    series.set(keys[i]!, labelsOf(found));
  }
  return series;
}

export function labelsOf(samples: readonly RuleSample[]): RuleSample['labels'][] {
  return samples.map(({ labels }) => labels);
}

interface RuleContext {
  readonly group: RuleGroup;
  readonly atMs: number;
  readonly previous: RuleState | undefined;
}

function evaluateRule(
  rule: Rule,
  found: readonly RuleSample[],
  { group, atMs, previous }: RuleContext,
): { alerts: readonly Alert[]; samples: readonly RuleSample[] } {
  const most = group.limit || (rule.kind === 'alerting' ? maxAlerts : maxSamples);
  if (found.length > most) {
    const what = rule.kind === 'alerting' ? 'alerts' : 'samples';
    throw new Error(
      `cannot create ${found.length} ${what}, at most ${most}: aggregate the query, or set ` +
        'limit of the group',
    );
  }
  if (rule.kind === 'recording') return { alerts: [], samples: toRecorded(rule, found) };
  const alerts = nextAlerts(rule, {
    samples: found,
    atMs,
    previousMs: previous?.evaluatedAtMs,
    intervalMs: group.intervalMs,
    alerts: previous?.alerts ?? [],
  });
  return { alerts, samples: alerts.flatMap(toAlertSeries) };
}

function toRecorded(rule: Rule, found: readonly RuleSample[]): RuleSample[] {
  const toLabels = compileAll(rule.labels);
  const seen = new Set<string>();
  return found.map((sample) => {
    const labels = sortLabels({ ...sample.labels, ...toLabels(sample), __name__: rule.name });
    const key = labelsKey(labels);
    if (seen.has(key)) throw new Error(`cannot record two samples with the labels ${key}`);
    seen.add(key);
    return { labels, value: sample.value };
  });
}

/** The series that Prometheus writes of each pending or firing alert. */
function toAlertSeries({ state, labels, activeAtMs }: Alert): RuleSample[] {
  if (state === 'inactive') return [];
  return [
    { labels: { ...labels, __name__: 'ALERTS', alertstate: state }, value: 1 },
    { labels: { ...labels, __name__: 'ALERTS_FOR_STATE' }, value: activeAtMs / 1000 },
  ];
}

interface Evaluated {
  readonly rules: Readonly<Record<string, RuleState>>;
  /** The one before. */
  readonly state: GroupState | undefined;
  readonly atMs: number;
}

/** An alert for each rule that failed in two evaluations in a row. */
export function failureAlerts(group: RuleGroup, { rules, state, atMs }: Evaluated): Alert[] {
  const errors = new Map<string, string>();
  const keys = ruleKeys(group.rules);
  for (const [i, { name }] of group.rules.entries()) {
    const { health, lastError } = rules[keys[i]!]!;
    if (health === 'err') errors.set(name, lastError);
  }
  const rule: AlertingRule = {
    kind: 'alerting',
    name: 'RuleEvaluationFailed',
    query: { type: 'prometheus', expr: '' },
    labels: {},
    annotations: {},
    forMs: group.intervalMs,
    keepFiringForMs: 0,
  };
  const samples = [...errors.keys()].map((name) => ({
    labels: { rule_group: group.name, rule: name },
    value: 1,
  }));
  const previous = { previousMs: state?.evaluatedAtMs, alerts: state?.failures ?? [] };
  const { intervalMs } = group;
  return nextAlerts(rule, { samples, atMs, intervalMs, ...previous }).map((alert) => {
    const name = alert.labels['rule'] ?? '';
    const error = errors.get(name);
    if (error === undefined) return alert;
    const summary = `Rule ${name} of group ${group.name} cannot be evaluated`;
    return { ...alert, annotations: { summary, description: error } };
  });
}
