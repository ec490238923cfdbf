/** The state machine of an alerting rule, as that of Prometheus. Pure. */
import type { Alert, AlertingRule, RuleSample } from '../model/rules.ts';
import { formatGo } from './sprintf.ts';
import { compileTemplate } from './template.ts';

/** A resolved alert is kept this long, so that receivers learn of it. */
export const resolvedRetentionMs = 15 * 60_000;

/** After a longer gap between evaluations, and two intervals, a pending alert begins again. */
const outageToleranceMs = 3_600_000;

export interface AlertEvaluation {
  readonly samples: readonly RuleSample[];
  /** Unix ms. */
  readonly atMs: number;
  /** Of the previous evaluation; undefined = none. */
  readonly previousMs: number | undefined;
  /** Between evaluations. */
  readonly intervalMs: number;
  readonly alerts: readonly Alert[];
}

/** @throws Error where two samples have the same labels */
export function nextAlerts(
  rule: AlertingRule,
  { samples, atMs, previousMs, intervalMs, alerts }: AlertEvaluation,
): Alert[] {
  const known = new Map(alerts.map((alert) => [labelsKey(alert.labels), alert]));
  const active = new Map<string, Alert>();
  const toLabels = compileAll(rule.labels);
  const toAnnotations = compileAll(rule.annotations);
  const toleranceMs = Math.max(outageToleranceMs, 2 * intervalMs);
  const isResumed = previousMs !== undefined && Math.abs(atMs - previousMs) > toleranceMs;
  for (const sample of samples) {
    const labels = alertLabels(rule.name, sample.labels, toLabels(sample));
    const key = labelsKey(labels);
    if (active.has(key)) {
      throw new Error(
        `cannot create two alerts with the labels ${key}: aggregate the query, or do not replace ` +
          'a label that tells them apart',
      );
    }
    const annotations = { ...toAnnotations(sample), ...sample.annotations };
    const replaced = replacedLabels(sample.labels, labels);
    const text = { annotations, value: toExponent(sample.value), ...(replaced && { replaced }) };
    const earlier = known.get(key);
    const isNew =
      earlier === undefined ||
      earlier.state === 'inactive' ||
      (isResumed && earlier.state === 'pending');
    const begun: Alert = isNew
      ? { state: 'pending', labels, ...text, activeAtMs: atMs }
      : { ...earlier, replaced: undefined, ...text, keepFiringSinceMs: undefined };
    const fires = begun.state === 'pending' && atMs - begun.activeAtMs >= rule.forMs;
    active.set(key, fires ? { ...begun, state: 'firing', firedAtMs: atMs } : begun);
  }
  const gone = alerts.filter(({ labels }) => !active.has(labelsKey(labels)));
  const kept = gone.flatMap((alert) => withoutSample(rule, alert, atMs));
  return [...active.values(), ...kept];
}

/** As Prometheus prints values of alerts: `1.5e+00`. */
function toExponent(value: number): string {
  if (!Number.isFinite(value)) return formatGo(value);
  return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
}

/** @returns nothing where the alert is forgotten. */
function withoutSample(rule: AlertingRule, alert: Alert, atMs: number): readonly Alert[] {
  if (alert.state === 'pending') return [];
  if (alert.state === 'inactive') {
    return atMs - (alert.resolvedAtMs ?? 0) > resolvedRetentionMs ? [] : [alert];
  }
  if (rule.keepFiringForMs > 0) {
    const keepFiringSinceMs = alert.keepFiringSinceMs ?? atMs;
    if (atMs - keepFiringSinceMs < rule.keepFiringForMs) return [{ ...alert, keepFiringSinceMs }];
  }
  return [{ ...alert, state: 'inactive', resolvedAtMs: atMs }];
}

/** Alerts of a rule that no longer exists. */
export function resolveAll(alerts: readonly Alert[], atMs: number): Alert[] {
  return alerts.flatMap((alert) => withoutSample(noRule, alert, atMs));
}

const noRule: AlertingRule = {
  kind: 'alerting',
  name: '',
  query: { type: 'prometheus', expr: '' },
  labels: {},
  annotations: {},
  forMs: 0,
  keepFiringForMs: 0,
};

function alertLabels(
  alertname: string,
  ofSample: Readonly<Record<string, string>>,
  ofRule: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const { __name__: _, ...labels } = ofSample;
  return sortLabels({ ...labels, ...ofRule, alertname });
}

function replacedLabels(
  { __name__: _, ...ofSample }: Readonly<Record<string, string>>,
  labels: Readonly<Record<string, string>>,
): Record<string, string> | undefined {
  const replaced = Object.entries(ofSample).filter(
    ([name, value]) => (labels[name] ?? '') !== value,
  );
  return replaced.length === 0 ? undefined : Object.fromEntries(replaced);
}

/** By name, without empty values, and as they are stored: without lone surrogates. */
export function sortLabels(labels: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(labels)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => [name.toWellFormed(), value.toWellFormed()] as const);
  return Object.fromEntries(entries.sort(([left], [right]) => (left < right ? -1 : 1)));
}

/** Equal exactly for equal sorted labels. */
export function labelsKey(labels: Readonly<Record<string, string>>): string {
  return JSON.stringify(labels);
}

/** The templates of each name. */
export function compileAll(
  templates: Readonly<Record<string, string>>,
): (sample: RuleSample) => Record<string, string> {
  const compiled = Object.entries(templates).map(
    ([name, text]) => [name, compileTemplate(text)] as const,
  );
  return (sample) => Object.fromEntries(compiled.map(([name, expand]) => [name, expand(sample)]));
}
