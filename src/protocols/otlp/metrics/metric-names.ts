/**
 * Names of metrics and labels in Prometheus for those of OpenTelemetry, with the results of
 * Prometheus' own translation (https://prometheus.io/docs/guides/opentelemetry,
 * https://opentelemetry.io/docs/specs/otel/compatibility/prometheus_and_openmetrics).
 */

export interface NameRules {
  /** Whether characters outside of the classic set become underscores. */
  readonly escape: boolean;
  /** Whether names end with unit and type. */
  readonly addSuffixes: boolean;
}

/** @param translation value of `metrics.otlpTranslation` */
export function toNameRules(translation: string): NameRules {
  return {
    escape: translation.startsWith('Underscore'),
    addSuffixes: translation.endsWith('WithSuffixes'),
  };
}

/** As far as names depend on it. */
export type NamedType = 'gauge' | 'counter' | 'other';

const units: ReadonlyMap<string, string> = new Map([
  ['d', 'days'],
  ['h', 'hours'],
  ['min', 'minutes'],
  ['s', 'seconds'],
  ['ms', 'milliseconds'],
  ['us', 'microseconds'],
  ['ns', 'nanoseconds'],
  ['By', 'bytes'],
  ['KiBy', 'kibibytes'],
  ['MiBy', 'mebibytes'],
  ['GiBy', 'gibibytes'],
  ['TiBy', 'tibibytes'],
  ['KBy', 'kilobytes'],
  ['MBy', 'megabytes'],
  ['GBy', 'gigabytes'],
  ['TBy', 'terabytes'],
  ['m', 'meters'],
  ['V', 'volts'],
  ['A', 'amperes'],
  ['J', 'joules'],
  ['W', 'watts'],
  ['g', 'grams'],
  ['Cel', 'celsius'],
  ['Hz', 'hertz'],
  ['1', ''],
  ['%', 'percent'],
]);
const perUnits: ReadonlyMap<string, string> = new Map([
  ['s', 'second'],
  ['m', 'minute'],
  ['h', 'hour'],
  ['d', 'day'],
  ['w', 'week'],
  ['mo', 'month'],
  ['y', 'year'],
]);

interface Metric {
  readonly name: string;
  /** As of UCUM: `By/s`. */
  readonly unit: string;
  readonly type: NamedType;
}

const onlyUnderscores = /^_*$/;
const digitFirst = /^[0-9]/;

/** @returns the name of the metric family, or '' if there is none */
export function toMetricName(metric: Metric, { escape, addSuffixes }: NameRules): string {
  if (!escape) return addSuffixes ? withSuffixes(metric) : metric.name;
  const name = addSuffixes ? toTokens(metric).join('_') : escapeName(metric.name);
  if (name !== metric.name && onlyUnderscores.test(name)) return '';
  return digitFirst.test(name) ? `_${name}` : name;
}

/** The unit of metadata. */
export function toUnitName(unit: string): string {
  const [main, per] = toUnits(unit);
  const parts = [escapeUnit(main), escapeUnit(per)].filter((part) => part !== '');
  return parts.join('_').replace(/^_/, '').replace(/_$/, '');
}

/** @returns undefined if no label can be named so */
export function toLabelName(name: string, { escape }: NameRules): string | undefined {
  if (onlyUnderscores.test(name)) return undefined;
  if (!escape) return name;
  const escaped = name.replaceAll(/[^a-zA-Z0-9]/gu, '_');
  if (onlyUnderscores.test(escaped)) return undefined;
  if (digitFirst.test(escaped)) return `key_${escaped}`;
  return escaped.startsWith('_') && !escaped.startsWith('__') ? `key${escaped}` : escaped;
}

function escapeName(name: string): string {
  return name
    .split(/[^a-zA-Z0-9:_]/u)
    .filter((part) => part !== '')
    .join('_');
}

function toTokens({ name, unit, type }: Metric): string[] {
  const tokens = name.split(/[^a-zA-Z0-9:]/u).filter((token) => token !== '');
  const [main, per] = toUnits(unit).map(escapeUnit) as [string, string];
  const perUnit = per === 'per_' ? '' : per.replace(/_$/, '');
  const hasPer = perUnit !== '' && !tokens.includes(perUnit);
  const mainUnit = hasPer ? main.replace(/_$/, '') : main;
  const suffixes = [];
  if (main !== '' && !tokens.includes(main) && mainUnit !== '') suffixes.push(mainUnit);
  if (hasPer) suffixes.push(perUnit);
  tokens.push(...suffixes);
  const last = lastToken(unit, type);
  return last === '' ? tokens : [...tokens.filter((token) => token !== last), last];
}

/** Counters end with `_total`; `_ratio` is for gauges, as counts often have the unit 1 too. */
function lastToken(unit: string, type: NamedType): string {
  if (type === 'counter') return 'total';
  return type === 'gauge' && unit === '1' ? 'ratio' : '';
}

function withSuffixes({ name, unit, type }: Metric): string {
  const [main, per] = toUnits(unit);
  const last = lastToken(unit, type);
  let text = withoutSuffix(withoutSuffix(name, last), per);
  if (main !== '' && !text.endsWith(main)) text += `_${main}`;
  if (per !== '') text += `_${per}`;
  return last === '' ? text : `${text}_${last}`;
}

/** Removes a suffix and the character before it. */
function withoutSuffix(name: string, suffix: string): string {
  const isPart = suffix !== '' && name.endsWith(suffix) && name.length > suffix.length + 1;
  return isPart ? name.slice(0, -suffix.length - 1) : name;
}

/** Annotations such as `{request}` are no units. */
function toUnits(unit: string): [main: string, per: string] {
  const slash = unit.indexOf('/');
  const main = (slash < 0 ? unit : unit.slice(0, slash)).trim();
  const per = slash < 0 ? '' : unit.slice(slash + 1).trim();
  const mainUnit = /[{}]/.test(main) ? '' : (units.get(main) ?? main);
  const perUnit = /[{}]/.test(per) ? '' : (perUnits.get(per) ?? per);
  return [mainUnit, perUnit === '' ? '' : `per_${perUnit}`];
}

function escapeUnit(unit: string): string {
  return unit
    .replaceAll(/[^a-zA-Z0-9:]/gu, '_')
    .replaceAll(/_+/g, '_')
    .replace(/^_/, '');
}
