/** Arguments and result of each function. */
import type { ValueType } from './ast.ts';

export interface Signature {
  readonly args: readonly ValueType[];
  /** Further or missing last arguments: how many may be given; -1 = any number. */
  readonly variadic: number;
  readonly returns: 'scalar' | 'vector';
}

export function signatureOf(name: string): Signature | undefined {
  return signatures.get(name);
}

const ofVector = words(`
  abs absent acos acosh asin asinh atan atanh ceil cos cosh deg exp floor histogram_avg
  histogram_count histogram_stddev histogram_stdvar histogram_sum ln log10 log2 rad sgn sin
  sinh sort sort_desc sqrt tan tanh timestamp`);
const ofRange = words(`
  absent_over_time avg_over_time changes count_over_time delta deriv first_over_time idelta
  increase irate last_over_time mad_over_time max_over_time min_over_time present_over_time
  rate resets stddev_over_time stdvar_over_time sum_over_time ts_of_first_over_time
  ts_of_last_over_time ts_of_max_over_time ts_of_min_over_time`);
const ofTimes = words(`
  day_of_month day_of_week day_of_year days_in_month hour minute month year`);

const signatures = new Map<string, Signature>([
  ...all(['vector'], ofVector),
  ...all(['matrix'], ofRange),
  ...all(['vector'], ofTimes, { variadic: 1 }),
  ...all([], ['end', 'pi', 'range', 'start', 'step', 'time'], { returns: 'scalar' }),
  ...all(['scalar', 'scalar'], ['max_of', 'min_of'], { returns: 'scalar' }),
  ...all(['vector'], ['scalar'], { returns: 'scalar' }),
  ...all(['scalar'], ['vector']),
  ...all(['vector', 'scalar', 'scalar'], ['clamp']),
  ...all(['vector', 'scalar'], ['clamp_max', 'clamp_min']),
  ...all(['vector', 'scalar'], ['round'], { variadic: 1 }),
  ...all(['scalar', 'vector'], ['histogram_quantile']),
  ...all(['scalar', 'scalar', 'vector'], ['histogram_fraction']),
  ...all(['vector', 'string', 'scalar', 'scalar'], ['histogram_quantiles'], { variadic: 9 }),
  ...all(['matrix', 'scalar', 'scalar'], ['double_exponential_smoothing']),
  ...all(['matrix', 'scalar'], ['predict_linear']),
  ...all(['scalar', 'matrix'], ['quantile_over_time']),
  ...all(['vector', 'vector'], ['info'], { variadic: 1 }),
  ...all(['vector', 'string', 'string', 'string'], ['label_join'], { variadic: -1 }),
  ...all(['vector', 'string', 'string', 'string', 'string'], ['label_replace']),
  ...all(['vector', 'string'], ['sort_by_label', 'sort_by_label_desc'], { variadic: -1 }),
]);

function all(
  args: readonly ValueType[],
  names: readonly string[],
  { variadic = 0, returns = 'vector' }: Partial<Signature> = {},
): [string, Signature][] {
  return names.map((name) => [name, { args, variadic, returns }]);
}

function words(text: string): string[] {
  return text.trim().split(/\s+/);
}
