/**
 * What the four reads may be asked, as strict schemas: they validate, and the OpenAPI document is
 * made of them. One name a parameter; synonyms are renamed before. Source: SPEC §4.2. Pure.
 */
import { z } from 'zod';
import {
  type EqualityField,
  equalityFields,
  facetFields,
  type FacetName,
  filterFields,
  logFields,
} from '../model/log-fields.ts';
import { cursor, exclusion, integer, label, list, text, timestamp, uuid } from './parameters.ts';

const maxLimit = 1_000;
const maxBuckets = 500;
const maxTopK = 100;
const maxBatchFields = 20;

function anyOf<Item extends z.ZodType>(item: Item, help: string) {
  const description = help.charAt(0).toUpperCase() + help.slice(1);
  return list(item, `${description}. Repeated: any of them.`);
}

const equality = (field: EqualityField) => anyOf(text(), logFields[field].filter.help);

/** Filters of every read of logs. */
export const filters = {
  streamId: anyOf(uuid, logFields.streamId.filter.help),
  ...(Object.fromEntries(equalityFields.map((field) => [field, equality(field)])) as Readonly<
    Record<EqualityField, ReturnType<typeof equality>>
  >),
  search: text(
    'Words that must all occur in the message, as substrings without case; ' +
      '"quoted phrase" literally, -word excludes.',
  ).optional(),
  label: list(label, 'Label as key:value, split at the first colon. Repeated: all of them.'),
  exclude: list(
    exclusion,
    'Not these: <field>:<value>, split at the first colon; ' +
      `field is ${filterFields.join(', ')}.`,
  ),
  excludeLabel: list(label, 'Not with this label, as key:value, split at the first colon.'),
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

export const facetNames = [...facetFields.keys()];

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
  return (facetNames as readonly string[]).includes(name);
}
