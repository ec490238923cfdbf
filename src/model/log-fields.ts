/**
 * The fields of a log. The filter and its SQL, the parameters and facets of the API, the flags of
 * the command line and the columns of the explorer follow from this table.
 */

import { toSeverityLevel } from './severity.ts';

interface LogField {
  /** In the table `logs`. */
  readonly column: string;
  /** Path of the value in a `LogRecord`, separated by dots. */
  readonly path: string;
  /** Title in the explorer. */
  readonly title: string;
  /** Name on the command line, in kebab case. */
  readonly flag: string;
  /** Attribute or label that senders set for this column. */
  readonly attribute?: string;
  /** Absent = displayed, but not filterable or counted. */
  readonly filter?: FieldFilter;
}

export interface FieldFilter {
  /**
   * `level`: severities of one level are equal. `hex`: digits, stored in lower case. `stream`:
   * limits which streams are read.
   */
  readonly match: 'exact' | 'level' | 'hex' | 'stream';
  /** Facet names that count its values, the usual one first; empty = no facet. */
  readonly facets: readonly string[];
  /** Length of values; with `hex` only. */
  readonly digits?: number;
  /** Description of the flag and of the parameter. */
  readonly help: string;
}

const kubernetesField = (part: string, word: string) =>
  ({
    column: `K8s${word}`,
    path: `kubernetes.${part}`,
    title: `K8s ${part}`,
    flag: `k8s-${part}`,
    attribute: `k8s.${part}.name`,
    filter: { match: 'exact', facets: [`k8s${word}`], help: `Kubernetes ${part}` },
  }) as const satisfies LogField;

/** By the name of the API's parameter, in the order of the explorer. */
export const logFields = {
  severity: {
    column: 'SeverityText',
    path: 'severity',
    title: 'Severity',
    flag: 'severity',
    filter: {
      match: 'level',
      facets: ['severity'],
      help: 'severity, any word of its level, case-insensitive',
    },
  },
  serviceName: {
    column: 'ServiceName',
    path: 'serviceName',
    title: 'Service',
    flag: 'service',
    filter: {
      match: 'exact',
      facets: ['service', 'service_name', 'serviceName'],
      help: 'name of the service',
    },
  },
  host: {
    column: 'Host',
    path: 'host',
    title: 'Host',
    flag: 'host',
    filter: {
      match: 'exact',
      facets: ['host'],
      help: 'host of the log; empty = logs without a host',
    },
  },
  streamId: {
    column: 'StreamId',
    path: 'streamId',
    title: 'Stream',
    flag: 'stream',
    filter: { match: 'stream', facets: ['stream'], help: 'stream; default: all of the account' },
  },
  serviceNamespace: {
    column: 'ServiceNamespace',
    path: 'serviceNamespace',
    title: 'Namespace',
    flag: 'namespace',
    filter: { match: 'exact', facets: ['serviceNamespace'], help: 'namespace of the service' },
  },
  k8sCluster: kubernetesField('cluster', 'Cluster'),
  k8sNamespace: kubernetesField('namespace', 'Namespace'),
  k8sDeployment: kubernetesField('deployment', 'Deployment'),
  k8sPod: kubernetesField('pod', 'Pod'),
  k8sContainer: kubernetesField('container', 'Container'),
  k8sNode: kubernetesField('node', 'Node'),
  traceId: {
    column: 'TraceId',
    path: 'traceId',
    title: 'Trace id',
    flag: 'trace',
    filter: { match: 'hex', digits: 32, facets: [], help: 'id of the trace, 32 hex digits' },
  },
  spanId: {
    column: 'SpanId',
    path: 'spanId',
    title: 'Span id',
    flag: 'span',
    filter: { match: 'hex', digits: 16, facets: [], help: 'id of the span, 16 hex digits' },
  },
  eventName: {
    column: 'EventName',
    path: 'eventName',
    title: 'Event',
    flag: 'event',
    attribute: 'event.name',
  },
  scope: {
    column: 'ScopeName',
    path: 'scope.name',
    title: 'Scope',
    flag: 'scope',
    attribute: 'otel.scope.name',
  },
  receiverId: { column: 'ReceiverId', path: 'receiverId', title: 'Receiver', flag: 'receiver' },
} as const satisfies Readonly<Record<string, LogField>>;

type Fields = typeof logFields;
export type FieldName = keyof Fields;
type Filterable<Filter> = {
  [Name in keyof Fields]: Fields[Name] extends { readonly filter: Filter } ? Name : never;
}[keyof Fields];

/** A field that logs can be filtered by. */
export type FilterField = Filterable<FieldFilter>;
/** A field whose column is compared with values. */
export type EqualityField = Exclude<FilterField, Filterable<{ readonly match: 'stream' }>>;
/** A label by its key. */
export type LabelField = `${typeof labelPrefix}${string}`;
/** What logs are grouped by. */
export type GroupField = FieldName | LabelField;

/** Label keys after it may have the name of a field. */
export const labelPrefix = 'label.';

export const fieldEntries: readonly (readonly [keyof Fields, LogField])[] = (
  Object.keys(logFields) as (keyof Fields)[]
).map((name) => [name, logFields[name]]);

export const filterFields = fieldEntries
  .filter(([, { filter }]) => filter !== undefined)
  .map(([name]) => name) as readonly FilterField[];

export const equalityFields = filterFields.filter(
  (name) => logFields[name].filter.match !== 'stream',
) as readonly EqualityField[];

export function isLabelField(name: string): name is LabelField {
  return name.startsWith(labelPrefix) && name.length > labelPrefix.length;
}

export function labelKeyOf(field: LabelField): string {
  return field.slice(labelPrefix.length);
}

/** Name in answers; others name it too. */
export function nameOfField(field: GroupField): string {
  if (isLabelField(field)) return field;
  const definition: LogField = logFields[field];
  return definition.filter?.facets[0] ?? field;
}

/** Names separated by commas; `\,` is a comma of a name. */
export function splitNames(list: string): string[] {
  return list.split(/(?<!\\),/).map((name) => name.trim().replaceAll('\\,', ','));
}

export function joinNames(names: readonly string[]): string {
  return names.map((name) => name.replaceAll(',', '\\,')).join(',');
}

export const fieldNames: readonly string[] = fieldEntries.map(([field]) => nameOfField(field));

/** Whether the column can hold the value. */
export function isPossible(field: EqualityField, value: string): boolean {
  const filter: FieldFilter = logFields[field].filter;
  const { digits } = filter;
  return digits === undefined || value === '' || isHex(value, digits);
}

function isHex(text: string, digits: number): boolean {
  return text.length === digits && /^[\da-f]*$/i.test(text);
}

/** A value of a filter in the form in which logs are grouped by it. */
export function toStoredValue(field: EqualityField, value: string): string {
  const { match } = logFields[field].filter;
  if (match === 'level') return toSeverityLevel(value);
  return match === 'hex' ? value.toLowerCase() : value;
}

/** @param path of an entry. @returns '' when the log has no value */
export function fieldValue(log: unknown, path: string): string {
  const value = path
    .split('.')
    .reduce<unknown>((part, key) => (part as Readonly<Record<string, unknown>>)?.[key], log);
  return typeof value === 'string' ? value : '';
}
