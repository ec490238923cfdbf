/**
 * What the four reads may be asked, as strict schemas: they validate, and the OpenAPI document is
 * made of them. One name a parameter; synonyms are renamed before. Source: SPEC §4.2. Pure.
 */
import { z } from 'zod';
import type { FacetField } from '../model/plan.ts';
import {
  cursor,
  excludableFields,
  exclusion,
  integer,
  label,
  list,
  text,
  timestamp,
  uuid,
} from './parameters.ts';

const maxLimit = 1_000;
const maxBuckets = 500;
const maxTopK = 100;
const maxBatchFields = 20;

const anyOf = 'Repeated: any of them.';

/** What every read of logs may filter by. */
export const filters = {
  streamId: list(uuid, `Stream to read; default: all streams of the account. ${anyOf}`),
  search: text(
    'Words that must all occur in the message, as substrings without case; ' +
      '"quoted phrase" literally, -word excludes.',
  ).optional(),
  severity: list(text('Severity, compared without case.'), `Severity, without case. ${anyOf}`),
  host: list(text('Host.'), `Emitting host; empty: none. ${anyOf}`),
  serviceName: list(text('Service.'), `Name of the service. ${anyOf}`),
  serviceNamespace: list(text('Namespace.'), `Namespace of the service. ${anyOf}`),
  label: list(label, 'Label as key:value, split at the first colon. Repeated: all of them.'),
  exclude: list(
    exclusion,
    'Not these: <field>:<value>, split at the first colon; ' +
      `field is ${excludableFields.join(', ')}.`,
  ),
  excludeLabel: list(label, 'Not with this label, as key:value, split at the first colon.'),
  k8sCluster: list(text('Cluster.'), `Kubernetes cluster. ${anyOf}`),
  k8sNamespace: list(text('Namespace.'), `Kubernetes namespace. ${anyOf}`),
  k8sNode: list(text('Node.'), `Kubernetes node. ${anyOf}`),
  k8sPod: list(text('Pod.'), `Kubernetes pod. ${anyOf}`),
  k8sContainer: list(text('Container.'), `Kubernetes container. ${anyOf}`),
  k8sDeployment: list(text('Deployment.'), `Kubernetes deployment. ${anyOf}`),
};

/** Which time a read of logs looks at. */
export const range = {
  sinceTime: timestamp('Only logs at or after this time; synonym: startTime.').optional(),
  untilTime: timestamp('Only logs before this time; synonym: endTime.').optional(),
};

export const listQuery = z.strictObject({
  ...filters,
  ...range,
  limit: integer(1, maxLimit, 'Logs in one answer; default 100.').default(100),
  cursor: cursor('Fetches logs older than this position.').optional(),
  since: cursor('Fetches logs newer than this position, the oldest of them first.').optional(),
});

export const histogramQuery = z.strictObject({
  ...filters,
  startTime: timestamp('Start of the first bucket; synonym: sinceTime.'),
  endTime: timestamp('End of the last bucket, not included; synonym: untilTime.'),
  buckets: integer(1, maxBuckets, 'Number of buckets; default 60.').default(60),
  groupBy: z
    .enum(['severity'], { error: 'severity' })
    .optional()
    .meta({ description: 'Adds the counts of each severity.' }),
});

/** The names a facet is asked by, and the field each one means. */
export const facetFieldsByName = {
  severity: 'severity',
  host: 'host',
  service: 'serviceName',
  service_name: 'serviceName',
  serviceName: 'serviceName',
  serviceNamespace: 'serviceNamespace',
  stream: 'stream',
  k8sCluster: 'k8sCluster',
  k8sNamespace: 'k8sNamespace',
  k8sNode: 'k8sNode',
  k8sPod: 'k8sPod',
  k8sContainer: 'k8sContainer',
  k8sDeployment: 'k8sDeployment',
} as const satisfies Record<string, FacetField>;

export type FacetName = keyof typeof facetFieldsByName;
export const facetNames = Object.keys(facetFieldsByName) as FacetName[];

const fieldsForm = `one of ${facetNames.join(', ')}`;
const batchForm = `1 to ${maxBatchFields} fields separated by commas, each ${fieldsForm}`;

const topK = integer(1, maxTopK, 'Values per field; default 10.').default(10);

export const facetsQuery = z.strictObject({
  ...filters,
  ...range,
  field: z
    .enum(facetNames, { error: fieldsForm })
    .meta({ description: 'The field whose commonest values are counted.' }),
  topK,
});

export const facetsBatchQuery = z.strictObject({
  ...filters,
  ...range,
  fields: z
    .string()
    .transform((value, context) => {
      const names = value.split(',').map((name) => name.trim());
      if (names.length <= maxBatchFields && names.every(isFacetName)) return names;
      context.issues.push({ code: 'custom', message: batchForm, input: value });
      return z.NEVER;
    })
    .meta({
      description: `Fields separated by commas: ${batchForm}.`,
      examples: ['severity,host'],
    }),
  topK,
});

export type ListQuery = z.output<typeof listQuery>;
export type HistogramQuery = z.output<typeof histogramQuery>;
export type FacetsQuery = z.output<typeof facetsQuery>;
export type FacetsBatchQuery = z.output<typeof facetsBatchQuery>;
/** What every read may filter by. */
export type FilterQuery = Omit<FacetsQuery, 'field' | 'topK'>;

function isFacetName(name: string): name is FacetName {
  return Object.hasOwn(facetFieldsByName, name);
}
