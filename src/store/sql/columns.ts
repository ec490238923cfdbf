/**
 * The names of what reads may touch: the only place where a field of a request becomes an
 * identifier of the table. It knows the table's columns, not how a statement is built of them.
 */
import type { EqualityField, FacetField } from '../../model/plan.ts';

/**
 * The skip indexes that inserts and merges leave out, for housekeeping to build when it is quiet.
 */
export const searchIndexes = ['labels', 'message_ngrams'] as const;

const columns: Readonly<Record<FacetField, string>> = {
  severity: 'SeverityText',
  host: 'Host',
  serviceName: 'ServiceName',
  serviceNamespace: 'ServiceNamespace',
  k8sCluster: 'K8sCluster',
  k8sNamespace: 'K8sNamespace',
  k8sNode: 'K8sNode',
  k8sPod: 'K8sPod',
  k8sContainer: 'K8sContainer',
  k8sDeployment: 'K8sDeployment',
  stream: 'StreamId',
};

export function columnOf(field: EqualityField | FacetField): string {
  return columns[field];
}

/**
 * Every `key=value` of a row's labels: what the index `labels` is built on, to be repeated
 * literally by its users.
 */
export const labelPairs =
  "arrayMap((k, v) -> concat(k, '=', v), " +
  'arrayConcat(mapKeys(LogAttributes), mapKeys(ResourceAttributes)), ' +
  'arrayConcat(mapValues(LogAttributes), mapValues(ResourceAttributes)))';

const namePattern = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;

/** @returns `database.name`. @throws Error where the database is no plain identifier. */
export function tableName(database: string, name: string): string {
  if (!namePattern.test(database)) {
    throw new Error(`cannot use database name "${database}": letters, digits and _ only`);
  }
  return `${database}.${name}`;
}
