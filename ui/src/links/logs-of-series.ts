/** Link from a point of a series to the logs of the same labels and time. Pure. */
import { toKey, toTarget } from '../../../src/query/fields.ts';
import type { Query } from '../../../src/query/parse.ts';
import { printQuery } from '../../../src/query/print.ts';
import { fieldOfLabel, withoutPort } from './label-fields.ts';

export interface LogsOfSeries {
  readonly labels: Readonly<Record<string, string>>;
  /** Labels that logs have; other labels of the series, such as `le`, would match none. */
  readonly logLabels: ReadonlySet<string>;
  /** Unix ms. */
  readonly fromMs: number;
  readonly untilMs: number;
}

export function toLogsOfSeries({ labels, logLabels, fromMs, untilMs }: LogsOfSeries): string {
  const conditions = Object.entries(labels).flatMap(([label, value]) =>
    label === '__name__' || value === '' ? [] : (conditionOf(label, value, logLabels) ?? []),
  );
  const [first, ...more] = conditions;
  const parameters = new URLSearchParams({
    from: new Date(fromMs).toISOString(),
    until: new Date(untilMs).toISOString(),
  });
  if (first !== undefined) {
    const query: Query = more.length === 0 ? first : { kind: 'and', items: [first, ...more] };
    parameters.set('query', printQuery(query));
  }
  return `/explore/logs?${parameters.toString()}`;
}

/**
 * A label that names a field is looked for in both, since senders put it in either. Metrics may be
 * sent with `http_route` for what logs call `http.route`.
 */
function conditionOf(
  label: string,
  value: string,
  logLabels: ReadonlySet<string>,
): Query | undefined {
  const field = fieldOfLabel(label);
  const isOwn = (key: string) => key === label || key.replaceAll(/[^\w]/g, '_') === label;
  const own = [...logLabels].filter(isOwn).map((key) => is(`label.${key}`, value));
  const named = label === 'instance' ? withoutPort(value) : value;
  const [first, ...more] = [...(field === undefined ? [] : [is(field, named)]), ...own];
  return first && more.length > 0 ? { kind: 'or', items: [first, ...more] } : first;
}

function is(name: string, value: string): Query {
  return { kind: 'field', key: toKey(toTarget(name)), test: { op: 'is', pattern: [value] } };
}
