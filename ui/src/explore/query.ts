/** State of the logs page, its URL query string and its API parameters. Pure. */

import { filterFields, labelPrefix } from '../../../src/model/log-fields.ts';
import { toGroupField } from '../../../src/query/fields.ts';
import type { Query } from '../../../src/query/parse.ts';
import { printQuery } from '../../../src/query/print.ts';
import { type Filter, printTerms, toTerm } from './terms.ts';

/** `span` is a number and a unit such as `90m`; from and until are ISO times, from before until. */
export type Range =
  | { readonly kind: 'relative'; readonly span: string }
  | { readonly kind: 'absolute'; readonly from: string; readonly until: string };

/** What the page shows below the histogram. */
export const tabNames = ['logs', 'patterns', 'compare', 'stats'] as const;
export type TabName = (typeof tabNames)[number];

/** What the range is compared with: a time as long, or all other logs of the range. */
export const baselines = ['before', 'day', 'week', 'others'] as const;
export type Baseline = (typeof baselines)[number];

export interface ExploreQuery {
  readonly tab: TabName;
  readonly baseline: Baseline;
  readonly stats: StatsChoice;
  readonly range: Range;
  /** In the query language; may be unreadable. */
  readonly text: string;
  /** Of the histogram: name of a field, or `label.<key>`. */
  readonly groupBy: string;
  /** Names of fields, or `label.<key>`. */
  readonly columns: readonly string[];
  readonly isWrapped: boolean;
  /** The list begins with the oldest log; excludes live mode. */
  readonly isOldestFirst: boolean;
  /** Of the loaded logs; excludes live mode. */
  readonly sort: ColumnSort | undefined;
  /** Live mode. */
  readonly isLive: boolean;
  /** The expanded log, or the log of a link. */
  readonly openLogId: string | undefined;
}

export interface ColumnSort {
  readonly column: string;
  readonly isDescending: boolean;
}

export interface StatsChoice {
  /** Such as `count` or `p95(label.duration_ms)`. */
  readonly stat: string;
  /** Name of a field, or `label.<key>`; empty = all logs together. */
  readonly by: string;
  /** Such as `5m`; empty = fits the range. */
  readonly step: string;
}

/** ISO times, half-open. */
export interface TimeBounds {
  readonly sinceTime: string;
  readonly untilTime: string;
}

/** As API parameters, common to list, histogram, facets, tail and export. */
export type ApiFilters = { readonly query?: string };

export const defaultQuery: ExploreQuery = {
  tab: 'logs',
  baseline: 'before',
  stats: { stat: 'count', by: '', step: '' },
  range: { kind: 'relative', span: '1h' },
  text: '',
  groupBy: 'severity',
  columns: ['serviceName', 'host'],
  isWrapped: false,
  isOldestFirst: false,
  sort: undefined,
  isLive: false,
  openLogId: undefined,
};

/** Maximum of the API. */
export const maxTextLength = 4_000;
const maxColumnLength = 1_000;
const maxColumns = 20;

/** @param search with or without `?`; invalid parts are ignored */
export function parseQuery(search: string): ExploreQuery {
  const parameters = new URLSearchParams(search);
  const columns = parameters.getAll('column');
  const isOldestFirst = parameters.get('order') === 'asc';
  const sort = parseSort(parameters.get('sort') ?? '');
  return {
    tab: tabNames.find((name) => name === parameters.get('tab')) ?? 'logs',
    baseline: baselines.find((name) => name === parameters.get('baseline')) ?? 'before',
    stats: parseStats(parameters),
    range: parseRange(parameters),
    text: parseText(parameters),
    groupBy: parseGroup(parameters.get('group') ?? ''),
    columns: columns.length === 0 ? defaultQuery.columns : parseColumns(columns),
    isWrapped: parameters.get('wrap') === '1',
    isOldestFirst,
    sort,
    isLive: parameters.get('live') === '1' && !isOldestFirst && sort === undefined,
    openLogId: parseLogId(parameters.get('log')),
  };
}

/** The state with this part changed: a new query closes the open log, live mode is newest first. */
export function withPart(query: ExploreQuery, part: Partial<ExploreQuery>): ExploreQuery {
  const isNewQuery = part.text !== undefined || part.range !== undefined;
  const next = { ...query, ...(isNewQuery && { openLogId: undefined }), ...part };
  if (!next.isLive || (!next.isOldestFirst && next.sort === undefined)) return next;
  if (part.isLive) return { ...next, isOldestFirst: false, sort: undefined };
  return { ...next, isLive: false };
}

/** The state without defaults, without `?`; may be empty. */
export function formatQuery(query: ExploreQuery): string {
  const parameters = new URLSearchParams();
  const { range, text, columns } = query;
  if (range.kind === 'absolute') {
    parameters.set('from', range.from);
    parameters.set('until', range.until);
  } else if (!isSame(range, defaultQuery.range)) {
    parameters.set('range', range.span);
  }
  if (text !== '') parameters.set('query', text);
  if (query.tab !== 'logs') parameters.set('tab', query.tab);
  if (query.baseline !== 'before') parameters.set('baseline', query.baseline);
  for (const name of ['stat', 'by', 'step'] as const) {
    const value = query.stats[name];
    if (value !== defaultQuery.stats[name]) parameters.set(name, value);
  }
  if (query.groupBy !== defaultQuery.groupBy) parameters.set('group', query.groupBy);
  if (!isSame(columns, defaultQuery.columns)) {
    for (const column of columns.length === 0 ? [''] : columns) parameters.append('column', column);
  }
  if (query.isWrapped) parameters.set('wrap', '1');
  if (query.isOldestFirst) parameters.set('order', 'asc');
  if (query.sort) {
    parameters.set('sort', `${query.sort.isDescending ? '-' : ''}${query.sort.column}`);
  }
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

export function toApiFilters({ text }: ExploreQuery): ApiFilters {
  return text === '' ? {} : { query: text };
}

/** Joins `query` with the other filters of the API, which older links have. */
function parseText(parameters: URLSearchParams): string {
  const filters = [...parameters].flatMap(([name, value]) => parseFilter(name, value) ?? []);
  // Values of a field are alternatives; labels are not.
  const alternatives = Map.groupBy(filters, ({ field, isExcluded, value }) =>
    JSON.stringify([isExcluded, field, field.startsWith(labelPrefix) && value]),
  );
  const text = (parameters.get('query') ?? '').trim();
  const others = [
    ...searchTerms(parameters.get('search') ?? ''),
    ...[...alternatives.values()].map((all) => printTerms([toTerm(all)])),
  ].join(' ');
  const isBoth = text !== '' && others !== '';
  return cut(isBoth ? `(${text}) ${others}` : text + others).trim();
}

/** The syntax of the parameter `search`. */
const searchTerm =
  /(-?)(?:"((?:[^"\\]|\\[^])*\\?)(?:"|$)|((?:[^\s"]|(?<=[^\s\p{L}\p{N}])"[^"]*"|")+))/gu;

function searchTerms(search: string): string[] {
  return [...search.matchAll(searchTerm)].flatMap(([, minus, phrase, word]) => {
    const text = phrase?.replace(/\\(["\\])/g, '$1') ?? word ?? '';
    if (text === '') return [];
    const query: Query = { kind: 'text', pattern: [text] };
    return printQuery(minus === '' ? query : { kind: 'not', item: query });
  });
}

function parseFilter(name: string, value: string): Filter | undefined {
  const isExcluded = name === 'exclude' || name === 'excludeLabel';
  if (!isExcluded && name !== 'label') {
    const field = filterFields.find((known) => known === name);
    return field === undefined ? undefined : { field, value, isExcluded };
  }
  const [, written, rest] = /^((?:[^:\\]|\\[^])+):([^]*)$/.exec(value) ?? [];
  if (written === undefined || rest === undefined) return undefined;
  const key = written.replace(/\\([:\\])/g, '$1');
  if (name !== 'exclude') return { field: labelPrefix + key, value: rest, isExcluded };
  const field = filterFields.find((known) => known === key);
  return field === undefined ? undefined : { field, value: rest, isExcluded };
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

/** The service refuses other names. */
function parseGroup(name: string): string {
  const field = toGroupField(name);
  const isKnown = field !== undefined && name.length <= maxColumnLength;
  return isKnown ? field.toWellFormed() : defaultQuery.groupBy;
}

function parseStats(parameters: URLSearchParams): StatsChoice {
  const [stat, by, step] = (['stat', 'by', 'step'] as const).map((name) =>
    (parameters.get(name) ?? '').slice(0, maxColumnLength).toWellFormed(),
  ) as [string, string, string];
  return {
    stat: stat || defaultQuery.stats.stat,
    by,
    step: parseSpan(step) === undefined ? '' : step,
  };
}

function parseColumns(columns: readonly string[]): string[] {
  const named = columns.filter((column) => column !== '' && column.length <= maxColumnLength);
  return [...new Set(named)].slice(0, maxColumns);
}

/** `-` before the column = descending. */
function parseSort(text: string): ColumnSort | undefined {
  const isDescending = text.startsWith('-');
  const [column] = parseColumns([isDescending ? text.slice(1) : text]);
  return column === undefined ? undefined : { column, isDescending };
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
