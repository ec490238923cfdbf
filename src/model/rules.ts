/** Rules that a service evaluates by itself: what is stored of them, and their state. */

/** Rules of a stream, evaluated together, in order. */
export interface RuleGroup {
  /** Unique within the stream. */
  readonly name: string;
  readonly intervalMs: number;
  /** How far in the past rules are evaluated, for late data. */
  readonly queryOffsetMs: number;
  /** Most alerts or samples of one rule; 0 = the limit of the service. */
  readonly limit: number;
  readonly rules: readonly Rule[];
}

interface NamedRule {
  /** Name of the alert, or of the recorded metric. */
  readonly name: string;
  readonly query: RuleQuery;
  /** Of the group and of the rule. */
  readonly labels: Readonly<Record<string, string>>;
}

export interface RecordingRule extends NamedRule {
  readonly kind: 'recording';
}

export interface AlertingRule extends NamedRule {
  readonly kind: 'alerting';
  readonly forMs: number;
  readonly keepFiringForMs: number;
  readonly annotations: Readonly<Record<string, string>>;
}

export type Rule = AlertingRule | RecordingRule;

export type RuleQuery =
  | { readonly type: 'prometheus'; readonly expr: string }
  | ({ readonly type: 'logs' } & LogsRuleQuery);

/** The stat that counts the logs of each template of messages which is not in the baseline. */
export const newPatterns = 'new_patterns';

/** A stat of the logs of a window that ends at the evaluation. */
export interface LogsRuleQuery {
  readonly query: string;
  /** Such as `count` or `p95(label.duration_ms)`, or `newPatterns`. */
  readonly stat: string;
  /** Fields, separated by commas; empty = one group. */
  readonly by: string;
  readonly windowMs: number;
  /** Length of the time before the window that has the known patterns; with `newPatterns` only. */
  readonly baselineMs?: number;
  /** Groups that the rule selects; undefined = all. */
  readonly condition: RuleCondition | undefined;
}

export const comparisons = ['>', '>=', '<', '<=', '==', '!='] as const;

export interface RuleCondition {
  readonly op: (typeof comparisons)[number];
  readonly value: number;
}

/** One element of the vector that a rule's query evaluates to. */
export interface RuleSample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  /** Of its alert, instead of those of the rule with the same names. */
  readonly annotations?: Readonly<Record<string, string>>;
}

/** An alert of one label set. Times are Unix ms. */
export interface Alert {
  /** `inactive` = resolved, kept to notify receivers. */
  readonly state: 'pending' | 'firing' | 'inactive';
  readonly labels: Readonly<Record<string, string>>;
  /** Labels of the sample that those of the rule replaced; absent = none. */
  readonly replaced?: Readonly<Record<string, string>> | undefined;
  readonly annotations: Readonly<Record<string, string>>;
  /** As Prometheus prints it. */
  readonly value: string;
  readonly activeAtMs: number;
  readonly firedAtMs?: number | undefined;
  readonly resolvedAtMs?: number | undefined;
  /** Since when it fires only because of `keep_firing_for`. */
  readonly keepFiringSinceMs?: number | undefined;
}

export interface RuleState {
  readonly health: 'ok' | 'err';
  /** Empty = none. */
  readonly lastError: string;
  readonly evaluatedAtMs: number;
  readonly seconds: number;
  readonly alerts: readonly Alert[];
}

/** Survives restarts of the evaluator. */
export interface GroupState {
  readonly evaluatedAtMs: number;
  /** When its evaluation began; Unix ms. Absent in states of earlier releases. */
  readonly readMs?: number;
  /** When an evaluation last found data that the one before had missed; absent = never. */
  readonly late?: LateRows & { readonly atMs: number };
  readonly seconds: number;
  /** By `ruleKeys`. */
  readonly rules: Readonly<Record<string, RuleState>>;
  /** One alert per failing rule. */
  readonly failures: readonly Alert[];
  /** What notifiers acknowledged, by `sentKey`; absent = nothing. */
  readonly sent?: Readonly<Record<string, SentAlert>>;
}

/** Logs or samples of a time that was evaluated before they arrived. */
export interface LateRows {
  readonly rows: number;
  /** Longest time between a row's own time and its receipt; 0 without rows. */
  readonly maxDelayMs: number;
}

export interface SentAlert {
  readonly state: 'firing' | 'inactive';
  readonly activeAtMs: number;
  /** Unix ms. */
  readonly atMs: number;
}

export const notifierKinds = ['alertmanager', 'webhook'] as const;

/** A destination of the alerts of an account. */
export interface Notifier {
  /** UUID. */
  readonly notifierId: string;
  readonly accountId: string;
  readonly name: string;
  readonly kind: (typeof notifierKinds)[number];
  /** Of a webhook, or the base URL of an Alertmanager. */
  readonly url: string;
  /** Signs requests of a webhook; empty = unsigned. */
  readonly secret: string;
  /** ISO 8601 UTC. */
  readonly createdAt: string;
  /** ISO 8601 UTC; null = none yet, as `lastFailureAt`. */
  readonly lastSuccessAt: string | null;
  readonly lastFailureAt: string | null;
  /** Reason of the last failure. */
  readonly lastFailure: string | null;
}

export type NewNotifier = Pick<Notifier, 'accountId' | 'name' | 'kind' | 'url' | 'secret'>;

/** Outcomes of requests to a notifier; an absent one keeps the earlier. */
export type Deliveries = Partial<Pick<Notifier, 'lastSuccessAt' | 'lastFailureAt' | 'lastFailure'>>;

export interface StoredRuleGroup {
  readonly accountId: string;
  readonly streamId: string;
  readonly group: RuleGroup;
  /** Undefined before the first evaluation. */
  readonly state: GroupState | undefined;
  /** ISO 8601 UTC. */
  readonly updatedAt: string;
}

/** What the alerts of a group would have done. */
export interface GroupPreview {
  /** One per label set and time of activity, in order of these times. */
  readonly alerts: readonly PreviewedAlert[];
  readonly evaluations: number;
  readonly failures: readonly RuleFailures[];
}

export interface PreviewedAlert {
  /** As last seen; `pending` = it never fired. */
  readonly alert: Alert;
  /** Unix ms; undefined = it was active at the last evaluation. */
  readonly endedAtMs: number | undefined;
}

export interface RuleFailures {
  /** Name of the rule. */
  readonly rule: string;
  readonly evaluations: number;
  readonly lastError: string;
}

/** Times are Unix ms. */
export interface PreviewTimes {
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly stepMs: number;
}

/** @throws AppError `malformed`; `query_timeout`, also once the client is `disconnected` */
export type PreviewGroup = (
  owner: Pick<StoredRuleGroup, 'accountId' | 'streamId'>,
  group: RuleGroup,
  times: PreviewTimes,
  disconnected?: AbortSignal,
) => Promise<GroupPreview>;

/** A changed expression keeps the state of its rule, a changed name or label does not. */
export function ruleKeys(rules: readonly Rule[]): string[] {
  const seen = new Map<string, number>();
  return rules.map(({ kind, name, labels }) => {
    // Their order in the file has no meaning.
    const pairs = Object.entries(labels).sort(([left], [right]) => (left < right ? -1 : 1));
    const key = JSON.stringify([kind, name, pairs]);
    const earlier = seen.get(key) ?? 0;
    seen.set(key, earlier + 1);
    return earlier === 0 ? key : `${key}#${earlier}`;
  });
}
