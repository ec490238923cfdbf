/** `label_replace` and `label_join`. */
import { metricNameLabel } from '../../model/metric-plan.ts';
import { executionError, type QueryError } from '../errors.ts';
import { labelValue, withLabel } from '../labels.ts';
import { wholePattern } from '../matchers.ts';
import { type GridSeries, mergeEqual } from '../values.ts';

/** @param args the string arguments. @throws QueryError */
export function labelReplace(
  series: readonly GridSeries[],
  [target = '', replacement = '', source = '', pattern = '']: readonly string[],
): readonly GridSeries[] {
  const compiled = compile(pattern);
  checkName(target, 'destination label name in label_replace()');
  const replaced = series.map((one) => {
    const found = compiled.exec(labelValue(one.labels, source));
    if (found === null) return one;
    return relabelled(one, target, expand(replacement, found));
  });
  return mergeEqual(replaced);
}

function compile(pattern: string) {
  try {
    return wholePattern(pattern);
  } catch {
    throw executionError(`invalid regular expression in label_replace(): ${pattern}`);
  }
}

const reference = /\$(?:(\$)|\{(\w+)\}|(\w+))/g;

/** `$1`, `${1}`, `${name}` and `$$`, as Go's `Regexp.Expand`. */
function expand(template: string, found: RegExpExecArray | readonly (string | null)[]): string {
  const groups = (found as { groups?: Record<string, string | null> }).groups ?? {};
  let length = 0;
  return template.replaceAll(
    reference,
    (_, dollar?: string, braced?: string, bare?: string): string => {
      if (dollar !== undefined) return '$';
      const name = braced ?? bare ?? '';
      const value = (/^\d+$/.test(name) ? found[Number(name)] : groups[name]) ?? '';
      length += value.length;
      if (length > maxValueLength) throw tooLong(length);
      return value;
    },
  );
}

/** @param args the string arguments. @throws QueryError */
export function labelJoin(
  series: readonly GridSeries[],
  [target = '', separator = '', ...sources]: readonly string[],
): readonly GridSeries[] {
  for (const source of sources) checkName(source, 'source label name in label_join()');
  checkName(target, 'destination label name in label_join()');
  const joined = series.map((one) => {
    const values = sources.map((source) => labelValue(one.labels, source));
    return relabelled(one, target, values.join(separator));
  });
  return mergeEqual(joined);
}

function checkName(name: string, what: string): void {
  if (name === '' || !name.isWellFormed()) throw executionError(`invalid ${what}: ${name}`);
}

/** More than any that is stored; each nested call could double it. */
const maxValueLength = 1_000_000;

/** A new name of the metric stays. @throws QueryError */
function relabelled(series: GridSeries, target: string, value: string): GridSeries {
  if (value.length > maxValueLength) throw tooLong(value.length);
  const dropName = target === metricNameLabel ? false : series.dropName;
  return { ...series, labels: withLabel(series.labels, target, value), dropName };
}

function tooLong(length: number): QueryError {
  return executionError(`cannot use a label value of ${length} characters`);
}
