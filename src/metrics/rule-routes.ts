/**
 * Rules and alerts as Prometheus lists them.
 * https://prometheus.io/docs/prometheus/latest/querying/api/#rules
 */
import { z } from 'zod';
import type { RuleStore } from '../directory/port.ts';
import { jsonResponse, type ReadRequest } from '../model/read-route.ts';
import {
  type Alert,
  type GroupState,
  type Rule,
  ruleKeys,
  type RuleQuery,
  type RuleState,
  type StoredRuleGroup,
} from '../model/rules.ts';
import { matches } from '../promql/matchers.ts';
import { formatDuration } from '../promql/parser/numbers.ts';
import { list } from '../std/parse-query.ts';
import { envelope, type MetricRoute, success } from './responses.ts';
import { noQuery, withMetricQuery } from './requests.ts';
import { parseSelector } from './parse-promql.ts';

const texts = z.record(z.string(), z.string());
const time = z.string().meta({ format: 'date-time' });

const alert = z.object({
  labels: texts,
  annotations: texts,
  state: z.enum(['pending', 'firing']),
  activeAt: time,
  keepFiringSince: time.optional(),
  value: z.string(),
});

const health = z.enum(['unknown', 'ok', 'err']);

const rule = z.object({
  name: z.string(),
  query: z.string(),
  logsQuery: z
    .string()
    .optional()
    .describe('The logs that a rule on logs looks at; absent for PromQL.'),
  duration: z.number().optional().describe('for, in seconds.'),
  keepFiringFor: z.number().optional(),
  labels: texts.optional(),
  annotations: texts.optional(),
  alerts: z.array(alert).optional(),
  state: z.enum(['inactive', 'pending', 'firing', 'unknown']).optional(),
  health,
  lastError: z.string().optional(),
  evaluationTime: z.number().describe('Seconds.'),
  lastEvaluation: time,
  type: z.enum(['alerting', 'recording']),
});

const group = z.object({
  name: z.string(),
  file: z.string().describe('Id of the stream.'),
  rules: z.array(rule),
  interval: z.number().describe('Seconds.'),
  limit: z.number(),
  evaluationTime: z.number(),
  lastEvaluation: time,
  late: z
    .object({
      time: time.describe('Evaluation that found them.'),
      rows: z.int(),
      seconds: z
        .number()
        .describe('Longest delay of these; a query_offset of this length includes such data.'),
    })
    .optional()
    .describe('The last logs or samples that arrived after the evaluation over their time.'),
});

const rulesQuery = z.object({
  type: z.enum(['alert', 'record'], { error: 'alert or record' }).optional(),
  'rule_name[]': list(z.string(), 'Only rules of these names.'),
  'rule_group[]': list(z.string(), 'Only groups of these names.'),
  'file[]': list(z.string(), 'Only groups of these streams.'),
  'match[]': list(
    z.string().meta({ example: '{severity="page"}' }),
    'Only rules whose own labels match this selector. Repeated: any of them.',
  ),
  exclude_alerts: z.string().optional().describe('`true`: without active alerts.'),
});

type RulesQuery = z.output<typeof rulesQuery>;

/** Prometheus' time of what never happened. */
const never = '0001-01-01T00:00:00Z';

export function createRuleRoutes({
  rules,
}: {
  readonly rules: Pick<RuleStore, 'listRuleGroups'>;
}): readonly MetricRoute[] {
  return [
    {
      path: 'rules',
      operationId: 'getRules',
      summary: 'Rule groups with the state of their rules',
      response: jsonResponse(envelope(z.object({ groups: z.array(group) }))),
      ...withMetricQuery(rulesQuery, async (query, { accountId }: ReadRequest) => {
        const stored = await rules.listRuleGroups(accountId);
        return success({ groups: toGroups(stored, query) });
      }),
    },
    {
      path: 'alerts',
      operationId: 'getAlerts',
      summary: 'Pending and firing alerts',
      response: jsonResponse(envelope(z.object({ alerts: z.array(alert) }))),
      ...withMetricQuery(noQuery, async (_query, { accountId }: ReadRequest) => {
        const stored = await rules.listRuleGroups(accountId);
        const states = stored.flatMap(({ state }) => (state === undefined ? [] : [state]));
        const alerts = states.flatMap((state) => [
          ...Object.values(state.rules).flatMap((one) => toAlerts(one.alerts)),
          ...toAlerts(state.failures),
        ]);
        return success({ alerts });
      }),
    },
  ];
}

function toGroups(stored: readonly StoredRuleGroup[], query: RulesQuery) {
  const { 'rule_name[]': names, 'rule_group[]': groups, 'file[]': files } = query;
  const isNarrowed = [names, query.type, query['match[]']].some((one) => one !== undefined);
  const isWanted = ruleFilter(query);
  return stored
    .filter((one) => (groups ?? [one.group.name]).includes(one.group.name))
    .filter(({ streamId }) => (files ?? [streamId]).includes(streamId))
    .map((one) => toGroup(one, query, isWanted))
    .filter(({ rules }) => !isNarrowed || rules.length > 0);
}

function toGroup(
  stored: StoredRuleGroup,
  query: RulesQuery,
  isWanted: (rule: Rule) => boolean,
): z.output<typeof group> {
  const { streamId, state } = stored;
  const { name, intervalMs, limit, rules } = stored.group;
  const keys = ruleKeys(rules);
  const shown = rules.flatMap((one, i) =>
    isWanted(one) ? [toRule(one, state?.rules[keys[i]!], query)] : [],
  );
  return {
    name,
    file: streamId,
    rules: shown,
    interval: intervalMs / 1000,
    limit,
    evaluationTime: state?.seconds ?? 0,
    lastEvaluation: state === undefined ? never : toTime(state.evaluatedAtMs),
    ...(state?.late !== undefined && { late: toLate(state.late) }),
  };
}

function toLate({ atMs, rows, maxDelayMs }: NonNullable<GroupState['late']>) {
  return { time: toTime(atMs), rows, seconds: maxDelayMs / 1000 };
}

/** @throws AppError `malformed` */
function ruleFilter(query: RulesQuery): (rule: Rule) => boolean {
  const { type, 'rule_name[]': names } = query;
  const selectors = query['match[]']?.map((text) => parseSelector(text, 'match[]')) ?? [[]];
  return ({ kind, name, labels }) =>
    (type === undefined || (type === 'alert') === (kind === 'alerting')) &&
    (names ?? [name]).includes(name) &&
    selectors.some((matchers) => matchers.every((one) => matches(one, labels[one.name] ?? '')));
}

function toRule(one: Rule, state: RuleState | undefined, query: RulesQuery): z.output<typeof rule> {
  const evaluated = {
    health: state?.health ?? ('unknown' as const),
    ...(state !== undefined && state.lastError !== '' && { lastError: state.lastError }),
    evaluationTime: state?.seconds ?? 0,
    lastEvaluation: state === undefined ? never : toTime(state.evaluatedAtMs),
  };
  const { name, labels } = one;
  const text = {
    query: toText(one.query),
    ...(one.query.type === 'logs' && { logsQuery: one.query.query }),
  };
  if (one.kind === 'recording') {
    const shown = Object.keys(labels).length > 0 && { labels };
    return { name, ...text, ...shown, ...evaluated, type: 'recording' };
  }
  const alerts = state?.alerts ?? [];
  const has = (wanted: Alert['state']) => alerts.some((each) => each.state === wanted);
  return {
    state: has('firing') ? 'firing' : has('pending') ? 'pending' : 'inactive',
    name,
    ...text,
    duration: one.forMs / 1000,
    keepFiringFor: one.keepFiringForMs / 1000,
    labels,
    annotations: one.annotations,
    alerts: query.exclude_alerts === 'true' ? [] : toAlerts(alerts),
    ...evaluated,
    type: 'alerting',
  };
}

/** Rules on logs as one text: `count by (service) of severity>=error over 5m > 10`. */
function toText(query: RuleQuery): string {
  if (query.type === 'prometheus') return query.expr;
  const { stat, by, windowMs, baselineMs, condition } = query;
  const groups = by === '' ? '' : ` by (${by})`;
  const compared = condition === undefined ? '' : ` ${condition.op} ${condition.value}`;
  const logs = query.query === '' ? 'all logs' : query.query;
  const known =
    baselineMs === undefined ? '' : `, not in ${formatDuration(baselineMs / 1000)} before`;
  const window = formatDuration(windowMs / 1000);
  return `${stat}${groups} of ${logs} over ${window}${known}${compared}`;
}

function toAlerts(alerts: readonly Alert[]): z.output<typeof alert>[] {
  return alerts.flatMap(({ state, labels, annotations, value, activeAtMs, keepFiringSinceMs }) => {
    if (state === 'inactive') return [];
    const kept = keepFiringSinceMs !== undefined && { keepFiringSince: toTime(keepFiringSinceMs) };
    return [{ labels, annotations, state, activeAt: toTime(activeAtMs), ...kept, value }];
  });
}

function toTime(timeMs: number): string {
  return new Date(timeMs).toISOString();
}
