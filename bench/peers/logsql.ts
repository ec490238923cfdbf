/** Questions in LogsQL, the query language of VictoriaLogs. Pure. */

import type { FieldName, Filter, Question } from './peer.ts';
import { facetValues, histogramBuckets, listLimit } from './peer.ts';

/** Requests made at the same time; together they answer the question. */
export type LogsqlForm = readonly LogsqlRequest[];

export interface LogsqlRequest {
  /** Below `/select/logsql/`. */
  readonly path: string;
  /** The query in LogsQL. */
  readonly text: string;
  /** Parameters besides `query`. */
  readonly parameters: Readonly<Record<string, string>>;
  /** What to count in the answer. */
  readonly answer: 'lines' | 'hits of lines' | 'hits of values' | 'hits of facets' | 'totals';
}

const columns: Readonly<Record<FieldName, string>> = {
  service: 'service_name',
  severity: 'severity',
  host: 'host',
};

/** Equivalent forms, which differ in cost: its documentation recommends several. */
export function toLogsqlForms(question: Question): LogsqlForm[] {
  const { sinceMs, untilMs } = question;
  // VictoriaLogs includes the end of the range.
  const range = { start: `${sinceMs}000000`, end: `${BigInt(untilMs) * 1_000_000n - 1n}` };
  return toFilters(question.filter)
    .flatMap((filter) => toRequests(question, filter))
    .map((form) =>
      form.map((request) => ({ ...request, parameters: { ...request.parameters, ...range } })),
    );
}

function toRequests(question: Question, filter: string): LogsqlForm[] {
  switch (question.kind) {
    case 'list':
      return [
        [query(filter, 'lines', { limit: String(listLimit) })],
        [query(`${filter} | sort by (_time desc) limit ${listLimit}`, 'lines')],
      ];
    case 'histogram': {
      const seconds = Math.ceil((question.untilMs - question.sinceMs) / histogramBuckets / 1000);
      const step = `${seconds}s`;
      const groups = question.bySeverity ? { field: 'severity' } : {};
      const by = question.bySeverity ? `_time:${step}, severity` : `_time:${step}`;
      return [
        [{ path: 'hits', text: filter, parameters: { step, ...groups }, answer: 'totals' }],
        [query(`${filter} | stats by (${by}) count() hits`, 'hits of lines')],
      ];
    }
    case 'facets': {
      const fields = question.fields.map((field) => columns[field]);
      return [
        fields.map((field) =>
          query(`${filter} | top ${facetValues} by (${field})`, 'hits of lines'),
        ),
        fields.map((field) => {
          const sorted = `sort by (hits desc) limit ${facetValues}`;
          return query(`${filter} | stats by (${field}) count() hits | ${sorted}`, 'hits of lines');
        }),
        fields.map((field) => {
          const answer = 'hits of values';
          return { path: 'field_values', text: filter, parameters: { field }, answer } as const;
        }),
        [facetsOf(filter, fields)],
      ];
    }
  }
}

function query(
  text: string,
  answer: LogsqlRequest['answer'],
  parameters: Readonly<Record<string, string>> = {},
): LogsqlRequest {
  return { path: 'query', text, parameters, answer };
}

function facetsOf(filter: string, fields: readonly string[]): LogsqlRequest {
  return {
    path: 'facets',
    text: `${filter} | fields ${fields.join(', ')}`,
    parameters: {
      limit: String(facetValues),
      max_values_per_field: '100000',
      keep_const_fields: '1',
    },
    answer: 'hits of facets',
  };
}

/** Selective conditions stand first, as its documentation recommends. */
function toFilters({ service, severity, label, words, phrase, part }: Filter): string[] {
  const others = [
    ...(words ?? []).map((word) => `"${word}"`),
    ...(phrase === undefined ? [] : [`"${phrase}"`]),
    ...(part === undefined ? [] : [`~"${part}"`]),
    ...(label === undefined ? [] : [`"labels.${label.key}":="${label.value}"`]),
    ...(severity === undefined ? [] : [`severity:="${severity}"`]),
  ];
  const starts =
    service === undefined
      ? [[]]
      : [[`{service_name="${service}"}`], [`service_name:="${service}"`]];
  return starts.map((start) => [...start, ...others].join(' ') || '*');
}

/** @returns logs listed, logs counted, or the sum of the counts of the first facet values */
export function countAnswer(text: string, answer: LogsqlRequest['answer']): number {
  const lines = () => text.split('\n').filter((line) => line !== '');
  switch (answer) {
    case 'lines':
      return lines().length;
    case 'hits of lines':
      return sum(lines().map((line) => Number((JSON.parse(line) as { hits: string }).hits)));
    case 'hits of values':
      return sumOfMost((JSON.parse(text) as { values: readonly Hits[] }).values);
    case 'hits of facets': {
      const { facets } = JSON.parse(text) as { facets: readonly { values: readonly Hits[] }[] };
      return sum(facets.map(({ values }) => sumOfMost(values)));
    }
    case 'totals':
      return sum(
        (JSON.parse(text) as { hits: readonly { total: number }[] }).hits.map((one) => one.total),
      );
  }
}

interface Hits {
  readonly hits: number;
}

function sumOfMost(values: readonly Hits[]): number {
  const hits = values.map((value) => value.hits).sort((a, b) => b - a);
  return sum(hits.slice(0, facetValues));
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
