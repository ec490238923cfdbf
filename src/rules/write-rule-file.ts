/** Rule groups as a file that `readRuleFile` reads to the same groups. */
import { Document, isScalar, Scalar, visit } from 'yaml';
import type { Rule, RuleGroup } from '../model/rules.ts';
import { formatDuration } from '../promql/parser/numbers.ts';

export function writeRuleFile(groups: readonly RuleGroup[]): string {
  const document = new Document({ groups: groups.map(toGroup) });
  visit(document, {
    Pair(_key, { key }) {
      // Plain, it would be a merge key.
      if (isScalar(key) && key.value === '<<') key.type = Scalar.QUOTE_DOUBLE;
    },
  });
  return document.toString({ lineWidth: 0 });
}

function toGroup({ name, intervalMs, queryOffsetMs, limit, rules }: RuleGroup) {
  return {
    name,
    ...(rules.some(({ query }) => query.type === 'logs') && { type: 'logs' }),
    interval: toDuration(intervalMs),
    ...(queryOffsetMs > 0 && { query_offset: toDuration(queryOffsetMs) }),
    ...(limit > 0 && { limit }),
    rules: rules.map(toRule),
  };
}

function toRule(rule: Rule) {
  return {
    [rule.kind === 'alerting' ? 'alert' : 'record']: rule.name,
    ...toQuery(rule.query),
    ...(rule.kind === 'alerting' && rule.forMs > 0 && { for: toDuration(rule.forMs) }),
    ...(rule.kind === 'alerting' &&
      rule.keepFiringForMs > 0 && { keep_firing_for: toDuration(rule.keepFiringForMs) }),
    ...(Object.keys(rule.labels).length > 0 && { labels: rule.labels }),
    ...(rule.kind === 'alerting' &&
      Object.keys(rule.annotations).length > 0 && { annotations: rule.annotations }),
  };
}

function toQuery(query: Rule['query']) {
  if (query.type === 'prometheus') return { expr: query.expr };
  const { stat, by, windowMs, baselineMs, condition } = query;
  return {
    query: query.query,
    stat,
    ...(by !== '' && { by }),
    window: toDuration(windowMs),
    ...(baselineMs !== undefined && { baseline: toDuration(baselineMs) }),
    ...(condition !== undefined && { condition: `${condition.op} ${condition.value}` }),
  };
}

function toDuration(millis: number): string {
  return formatDuration(millis / 1000);
}
