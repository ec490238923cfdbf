/**
 * What matchers of series mean as conditions of the table of series
 * (https://prometheus.io/docs/prometheus/latest/querying/basics/#time-series-selectors). Pure.
 */
import type { LabelMatcher, Selector } from '../../model/metric-plan.ts';
import { metricNameLabel } from '../../codec/series-labels.ts';
import type { Parameters } from './statement.ts';

/** @returns a condition that a series fits any of these; no condition where all do. */
export function selectorsCondition(selectors: readonly Selector[], params: Parameters): string[] {
  if (selectors.length === 0 || selectors.some((selector) => selector.length === 0)) return [];
  const all = selectors.map((selector) =>
    selector.map((matcher) => matcherCondition(matcher, params)).join(' AND '),
  );
  return all.length === 1 ? [all[0]!] : [`(${all.map((one) => `(${one})`).join(' OR ')})`];
}

/** The value of a label; "" where a series does not have it. */
export function labelExpression(name: string, params: Parameters): string {
  return name === metricNameLabel ? 'MetricName' : `Labels[${params.add('String', name)}]`;
}

function matcherCondition({ name, type, value }: LabelMatcher, params: Parameters): string {
  const label = labelExpression(name, params);
  switch (type) {
    case 'equal':
      return `${label} = ${params.add('String', value)}`;
    case 'notEqual':
      return `${label} != ${params.add('String', value)}`;
    case 'matches':
      return patternCondition(label, value, params);
    case 'notMatches':
      return `NOT (${patternCondition(label, value, params)})`;
  }
}

/**
 * The pattern is compiled once more as it was sent: what is none by itself, like `a)|(b`, must not
 * become one between the brackets. `match` itself does not always look at all of a pattern.
 */
function patternCondition(label: string, pattern: string, params: Parameters): string {
  const whole = params.add('String', `^(?s:${pattern})$`);
  const isPattern = `replaceRegexpOne('', ${params.add('String', pattern)}, '') = ''`;
  return `match(${label}, ${whole}) AND ${isPattern}`;
}
