/** State of the logs page, its URL query string and its API parameters. Pure. */

import { logFields } from '../api/log-fields.ts';

/** `span` is a number and a unit such as `90m`; from and until are ISO times, from before until. */
export type Range =
  | { readonly kind: 'relative'; readonly span: string }
  | { readonly kind: 'absolute'; readonly from: string; readonly until: string };

/** A filterable field, by the name of its API parameter. */
export type FilterField = Extract<(typeof logFields)[number], { isFilter: true }>['name'];

export const filterFields = logFields
  .filter(({ isFilter }) => isFilter)
  .map(({ name }) => name) as readonly FilterField[];

export interface Filter {
  readonly field: FilterField | `label.${string}`;
  readonly value: string;
  readonly isExcluded: boolean;
}

export interface ExploreQuery {
  readonly range: Range;
  readonly search: string;
  readonly filters: readonly Filter[];
  /** Names of fields, or `label.<key>`. */
  readonly columns: readonly string[];
  readonly isWrapped: boolean;
  /** Live mode. */
  readonly isLive: boolean;
  /** The expanded log, or the log of a link. */
  readonly openLogId: string | undefined;
}

/** ISO times, half-open. */
export interface TimeBounds {
  readonly sinceTime: string;
  readonly untilTime: string;
}

/** The filters as API parameters, common to list, histogram, facets, tail and export. */
export type ApiFilters = {
  readonly [Field in FilterField]?: string[];
} & {
  readonly search?: string;
  /** `key:value`, for `exclude` (`field:value`) and `excludeLabel`. */
  readonly label?: string[];
  readonly exclude?: string[];
  readonly excludeLabel?: string[];
};

export const defaultQuery: ExploreQuery = {
  range: { kind: 'relative', span: '1h' },
  search: '',
  filters: [],
  columns: ['serviceName', 'host'],
  isWrapped: false,
  isLive: false,
  openLogId: undefined,
};

const labelPrefix = 'label.';
/** Maximum text length of the API. */
const maxTextLength = 1_000;
const maxFilters = 100;
const maxColumns = 20;

/** @param search with or without `?`; invalid parts are ignored */
export function parseQuery(search: string): ExploreQuery {
  const parameters = new URLSearchParams(search);
  const columns = parameters.getAll('column');
  return {
    range: parseRange(parameters),
    search: cut(parameters.get('search') ?? ''),
    filters: parseFilters(parameters),
    columns: columns.length === 0 ? defaultQuery.columns : parseColumns(columns),
    isWrapped: parameters.get('wrap') === '1',
    isLive: parameters.get('live') === '1',
    openLogId: parseLogId(parameters.get('log')),
  };
}

/** The state without defaults, without `?`; may be empty. */
export function formatQuery(query: ExploreQuery): string {
  const parameters = new URLSearchParams();
  const { range, search, filters, columns } = query;
  if (range.kind === 'absolute') {
    parameters.set('from', range.from);
    parameters.set('until', range.until);
  } else if (!isSame(range, defaultQuery.range)) {
    parameters.set('range', range.span);
  }
  if (search !== '') parameters.set('search', search);
  for (const filter of filters) parameters.append(...parameterOf(filter));
  if (!isSame(columns, defaultQuery.columns)) {
    for (const column of columns.length === 0 ? [''] : columns) parameters.append('column', column);
  }
  if (query.isWrapped) parameters.set('wrap', '1');
  if (query.isLive) parameters.set('live', '1');
  if (query.openLogId !== undefined) parameters.set('log', query.openLogId);
  // Keeps the URL readable: URLSearchParams escapes more than necessary.
  return parameters.toString().replaceAll('%3A', ':').replaceAll('%2C', ',');
}

const unitMs: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};
const longestSpanMs = 3650 * 86_400_000;

/** ms of `90m`, `1h`, `7d`, `2w`; undefined unless between 1 s and ten years */
export function parseSpan(span: string): number | undefined {
  const [, count, unit] = /^(\d{1,9})([smhdw])$/.exec(span) ?? [];
  if (count === undefined || unit === undefined) return undefined;
  const ms = Number(count) * unitMs[unit]!;
  return ms >= 1000 && ms <= longestSpanMs ? ms : undefined;
}

export function toApiFilters({ search, filters }: ExploreQuery): ApiFilters {
  const lists: Record<string, string[]> = {};
  for (const filter of filters) {
    const [name, value] = parameterOf(filter);
    (lists[name] ??= []).push(value);
  }
  return { ...lists, ...(search.trim() !== '' && { search: search.trim() }) };
}

/** Whether a filter can express this: the API splits `key:value` at the first colon. */
export function isFilterField(field: string): field is Filter['field'] {
  if ((filterFields as readonly string[]).includes(field)) return true;
  return field.length > labelPrefix.length && field.startsWith(labelPrefix) && !field.includes(':');
}

/** Adds a filter; replaces one of the same field and value. */
export function withFilter(query: ExploreQuery, filter: Filter): ExploreQuery {
  const others = query.filters.filter((other) => !isSameTarget(other, filter));
  const at = query.filters.findIndex((other) => isSameTarget(other, filter));
  // Label filters are combined by AND, so a label has one value.
  const kept = others.filter(
    (other) =>
      !(isLabel(filter) && other.field === filter.field && !other.isExcluded && !filter.isExcluded),
  );
  const filters =
    at < 0 || kept.length < others.length ? [...kept, filter] : kept.toSpliced(at, 0, filter);
  return { ...query, filters };
}

export function withoutFilter(query: ExploreQuery, filter: Filter): ExploreQuery {
  return { ...query, filters: query.filters.filter((other) => !isSameTarget(other, filter)) };
}

function isSameTarget(left: Filter, right: Filter): boolean {
  return left.field === right.field && left.value === right.value;
}

function isLabel({ field }: Filter): boolean {
  return field.startsWith(labelPrefix);
}

function parameterOf(filter: Filter): [name: string, value: string] {
  const { field, value, isExcluded } = filter;
  if (isLabel(filter)) {
    const pair = `${field.slice(labelPrefix.length)}:${value}`;
    return [isExcluded ? 'excludeLabel' : 'label', pair];
  }
  return isExcluded ? ['exclude', `${field}:${value}`] : [field, value];
}

function parseFilters(parameters: URLSearchParams): Filter[] {
  let query = defaultQuery;
  for (const [name, value] of parameters) {
    const filter = parseFilter(name, cut(value));
    if (filter === undefined || !isFilterField(filter.field)) continue;
    query = withFilter(query, filter);
    if (query.filters.length >= maxFilters) break;
  }
  return [...query.filters];
}

function parseFilter(name: string, value: string): Filter | undefined {
  const isExcluded = name === 'exclude' || name === 'excludeLabel';
  if (!isExcluded && name !== 'label') {
    const field = filterFields.find((known) => known === name);
    return field && { field, value, isExcluded };
  }
  const colon = value.indexOf(':');
  if (colon < 1) return undefined;
  const key = value.slice(0, colon);
  const rest = value.slice(colon + 1);
  if (name !== 'exclude') return { field: `label.${key}`, value: rest, isExcluded };
  const field = filterFields.find((known) => known === key);
  return field && { field, value: rest, isExcluded };
}

function parseRange(parameters: URLSearchParams): Range {
  const from = parseTime(parameters.get('from'));
  const until = parseTime(parameters.get('until'));
  if (from !== undefined && until !== undefined && from < until) {
    return { kind: 'absolute', from, until };
  }
  const span = parameters.get('range') ?? '';
  return parseSpan(span) === undefined ? defaultQuery.range : { kind: 'relative', span };
}

const lastMs = Date.UTC(2149, 0);

/** ISO with ms, clamped to what the API accepts. */
function parseTime(text: string | null): string | undefined {
  if (text === null || !/^\d{4}-\d\d-\d\dT/.test(text)) return undefined;
  const ms = Date.parse(text);
  return ms >= 0 && ms <= lastMs ? new Date(ms).toISOString() : undefined;
}

function parseColumns(columns: readonly string[]): string[] {
  const named = columns.filter((column) => column !== '' && column.length <= maxTextLength);
  return [...new Set(named)].slice(0, maxColumns);
}

function parseLogId(text: string | null): string | undefined {
  return text !== null && /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text)
    ? text.toLowerCase()
    : undefined;
}

/** A cut may split a surrogate pair, which a URL cannot encode. */
function cut(text: string): string {
  return text.slice(0, maxTextLength).toWellFormed();
}

function isSame(left: unknown, right: unknown): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}
