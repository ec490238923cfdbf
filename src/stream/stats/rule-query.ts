/** Rules on logs: a stat of the logs of a window, by groups, or its new patterns. */
import { AppError } from '../../model/errors.ts';
import { splitNames } from '../../model/log-fields.ts';
import type { ListPlan, LogRecord, StatsPlan, StatsResult } from '../../model/plan.ts';
import { readContext, type ReadContextSource } from '../../model/readable-streams.ts';
import {
  type Alert,
  type LogsRuleQuery,
  newPatterns,
  type RuleCondition,
  type RuleSample,
} from '../../model/rules.ts';
import type { QueryTimes } from '../../promql/evaluation.ts';
import { messageOf } from '../../std/error-text.ts';
import { parseQuery } from '../../std/parse-query.ts';
import { toGroupField } from '../../query/fields.ts';
import { joinQueries } from '../../query/join.ts';
import { printGroup } from '../../query/print.ts';
import { planList, readQuery } from '../plan.ts';
import { listQuery } from '../requests.ts';
import { findNewPatterns, logsQueryOf, type PatternStore } from './new-patterns.ts';
import {
  maxGroups,
  planStats,
  statsQuery,
  type StatsRows,
  toLabelNames,
  toStatsResponse,
} from './stats.ts';
import { countWindows } from './window-counts.ts';

export interface LogsRuleParts extends ReadContextSource {
  readonly store: PatternStore & { stats(plan: StatsPlan): Promise<StatsResult> };
}

/** @returns what is wrong with the query; undefined = nothing. */
export function checkLogsRule(rule: LogsRuleQuery): string | undefined {
  try {
    const { stat } = parseQuery(statsQuery, toSearch(rule, { atMs: 0 }));
    readQuery(rule.query);
    const count = stat?.flat().length ?? 1;
    return count === 1 ? undefined : `cannot use ${count} stats in one rule: name one`;
  } catch (error) {
    return messageOf(error);
  }
}

interface Owner {
  readonly accountId: string;
  readonly streamId: string;
}

/** The functions throw AppError. */
export function createLogsRuleQuery(parts: LogsRuleParts) {
  return {
    /** The vector at one time. */
    async at(
      { accountId, streamId }: Owner,
      rule: LogsRuleQuery,
      atMs: number,
    ): Promise<RuleSample[]> {
      const context = await readContext(parts, accountId);
      const isWanted = (value: number) => isSelected(rule, value);
      if (rule.stat === newPatterns) {
        return findNewPatterns(parts.store, context, { rule, streamId, atMs, isWanted });
      }
      const query = parseQuery(statsQuery, toSearch(rule, { atMs, streamId }));
      const plan = planStats(context, query);
      const answer = toStatsResponse(query, plan, await parts.store.stats(plan));
      if (!('rows' in answer)) return [];
      const groups = answer.rows.filter(({ other }) => other !== true);
      if (groups.length < answer.rows.length) checkRest(rule, valueOf(groups.at(-1)!));
      return groups.flatMap((row) => {
        const value = valueOf(row);
        return value !== null && isWanted(value) ? [{ labels: toLabels(row.by), value }] : [];
      });
    },
    /** The vectors at all steps, by Unix ms; undefined if each must be read separately. */
    async over(
      { accountId, streamId }: Owner,
      rule: LogsRuleQuery,
      times: QueryTimes,
    ): Promise<Map<number, RuleSample[]> | undefined> {
      const { windowMs } = rule;
      const firstMs = times.startMs - windowMs;
      if (rule.stat === newPatterns || windowMs <= 0 || firstMs < 0) return undefined;
      const context = await readContext(parts, accountId);
      const whole = { ...rule, windowMs: times.endMs - firstMs };
      const query = parseQuery(statsQuery, toSearch(whole, { atMs: times.endMs, streamId }));
      const { by = [], stat } = query;
      const named = stat?.flat()[0];
      if (named !== undefined && !['count', 'sum'].includes(named.stat.op)) return undefined;
      const vectors = await countWindows(parts.store, {
        plan: planStats(context, query),
        times,
        windowMs,
        toLabels: (values) =>
          toLabels(Object.fromEntries(by.map(({ name }, i) => [name, values[i]!]))),
      });
      if (vectors === undefined) return undefined;
      const seconds = named?.isRate ? windowMs / 1000 : 1;
      const wanted = Array.from(vectors, ([timeMs, vector]) => {
        const scaled = vector.map(({ labels, value }) => ({ labels, value: value / seconds }));
        return [timeMs, scaled.filter(({ value }) => isSelected(rule, value))] as const;
      });
      return new Map(wanted);
    },
  };
}

function valueOf({ values }: StatsRows['rows'][number]): number | null {
  return Object.values(values)[0] ?? null;
}

/**
 * Groups beyond the limit have the values of the last one, lower ones, or none.
 * @throws AppError where the rule could select them
 */
function checkRest(rule: LogsRuleQuery, last: number | null): void {
  const isFromAbove = rule.condition?.op === '>' || rule.condition?.op === '>=';
  if (last === null || (isFromAbove && !isSelected(rule, last))) return;
  throw new AppError(
    'malformed',
    `cannot evaluate a rule on more than ${maxGroups} groups of ${rule.by}, of which it may ` +
      'select others: narrow query, name fewer fields in by, or raise the number after >',
  );
}

const comparisons: Readonly<Record<RuleCondition['op'], (a: number, b: number) => boolean>> = {
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '==': (a, b) => a === b,
  '!=': (a, b) => a !== b,
};

function isSelected({ condition }: LogsRuleQuery, value: number): boolean {
  return condition === undefined || comparisons[condition.op](value, condition.value);
}

const maxSamples = 3;

export interface RuleSamplesParts extends ReadContextSource {
  readonly store: { list(plan: ListPlan): Promise<LogRecord[]> };
}

/** The function returns the newest logs of one group of a rule. It throws AppError. */
export function createRuleSamples(parts: RuleSamplesParts) {
  return async (
    { accountId, streamId }: Owner,
    { query, by, windowMs }: LogsRuleQuery,
    alert: Pick<Alert, 'labels' | 'replaced' | 'annotations'>,
    atMs: number,
  ): Promise<LogRecord[]> => {
    const labels = { ...alert.labels, ...alert.replaced };
    const fields = by === '' ? [] : [...new Set(splitNames(by))];
    // Alerts have no empty labels.
    const names = toLabelNames(fields);
    const values = fields.map((field, at) =>
      printGroup(toGroupField(field)!, labels[names[at]!] ?? ''),
    );
    const asked = logsQueryOf(alert.annotations) ?? query;
    const terms = joinQueries([asked, ...values]);
    const search = new URLSearchParams({
      sinceTime: toIso(atMs - 2 * windowMs),
      untilTime: toIso(atMs),
      limit: String(maxSamples),
      streamId,
      ...(terms !== '' && { query: terms }),
    });
    const context = await readContext(parts, accountId);
    return parts.store.list(planList(context, parseQuery(listQuery, search), 0n));
  };
}

function toSearch(
  { query, stat, by, windowMs }: LogsRuleQuery,
  { atMs, streamId }: { readonly atMs: number; readonly streamId?: string },
): URLSearchParams {
  const [startTime, endTime] = [atMs - Math.max(windowMs, 1), atMs].map(toIso) as [string, string];
  return new URLSearchParams({
    // New patterns are no stat of `/api/v1/stats`; the rest of such a rule is checked alike.
    stat: stat === newPatterns ? 'count' : stat,
    startTime,
    endTime,
    limit: String(maxGroups),
    exact: 'true',
    ...(query !== '' && { query }),
    ...(by !== '' && { by }),
    ...(streamId !== undefined && { streamId }),
  });
}

function toIso(timeMs: number): string {
  return new Date(Math.max(timeMs, 0)).toISOString();
}

function toLabels(by: Readonly<Record<string, string>>): Record<string, string> {
  const names = toLabelNames(Object.keys(by));
  return Object.fromEntries(Object.values(by).map((value, at) => [names[at]!, value]));
}
