/**
 * Query parameters of the reads as strict schemas, which validate and describe them in OpenAPI.
 * Synonyms are renamed before validation. Pure.
 */
import { z } from 'zod';
import {
  type EqualityField,
  equalityFields,
  type FieldFilter,
  filterFields,
  logFields,
} from '../model/log-fields.ts';
import { integer, list, parsed, uuid } from '../std/parse-query.ts';
import { parseRecordFields, recordFieldsForm } from './record-fields.ts';
import {
  cursor,
  exclusion,
  fieldValue,
  groupField,
  groupFieldForm,
  label,
  minSeverity,
  parseGroupFields,
  text,
  timestamp,
} from './parameters.ts';

const maxLimit = 1_000;
const maxBuckets = 500;
const maxTopK = 100;
const maxBatchFields = 20;

function anyOf<Item extends z.ZodType>(item: Item, help: string) {
  const description = help.charAt(0).toUpperCase() + help.slice(1);
  return list(item, `${description}. Repeated: any of them.`);
}

function equality(field: EqualityField) {
  const filter: FieldFilter = logFields[field].filter;
  return anyOf(fieldValue(field, filter.digits), filter.help);
}

/** Filters of every read of logs except `/logs/{logId}`. */
export const filters = {
  streamId: anyOf(uuid, logFields.streamId.filter.help),
  ...(Object.fromEntries(equalityFields.map((field) => [field, equality(field)])) as Readonly<
    Record<EqualityField, ReturnType<typeof equality>>
  >),
  minSeverity: minSeverity.optional(),
  query: z
    .string()
    .optional()
    .meta({
      description:
        'A query such as `service:checkout severity>=error (timeout OR "connection reset")`, ' +
        'combined with the other filters; see docs/query-language.md.',
      examples: ['service:checkout severity>=error -path:"/health"'],
    }),
  search: text(
    'Words that the message must contain, as case-insensitive substrings; ' +
      '"quoted phrase" matches literally, \\" in it is a quote, -word excludes.',
  ).optional(),
  label: list(
    label,
    'Label as key:value, split at the first colon; \\: is a colon in the key. ' +
      'Repeated: all of them.',
  ),
  exclude: list(
    exclusion,
    'Excludes a value: <field>:<value>, split at the first colon; ' +
      `field is ${filterFields.join(', ')}.`,
  ),
  excludeLabel: list(label, 'Excludes a label: key:value, split at the first colon.'),
};

/** Range of event time, half-open. */
export const range = {
  sinceTime: timestamp('Only logs at or after this time; synonym: startTime.').optional(),
  untilTime: timestamp('Only logs before this time; synonym: endTime.').optional(),
};

/** A range that always has both ends. */
export const recentRange = {
  sinceTime: timestamp(
    'Only logs at or after this time; default: an hour before untilTime; synonym: startTime.',
  ).optional(),
  untilTime: timestamp('Only logs before this time; default: now; synonym: endTime.').optional(),
};

const hourNanos = 3_600_000_000_000n;

export function recentRangeOf(
  { sinceTime, untilTime }: Pick<FilterQuery, 'sinceTime' | 'untilTime'>,
  nowMs: number,
): { readonly startTime: bigint; readonly endTime: bigint } {
  const endTime = untilTime ?? BigInt(nowMs) * 1_000_000n;
  const hourBefore = endTime > hourNanos ? endTime - hourNanos : 0n;
  return { startTime: sinceTime ?? hourBefore, endTime };
}

export const listQuery = z.strictObject({
  ...filters,
  ...range,
  limit: integer(1, maxLimit, 'Logs per page; default 100.').default(100),
  order: z
    .enum(['desc', 'asc'], { error: 'desc or asc' })
    .default('desc')
    .describe('desc: newest first; asc: oldest first. Default desc.'),
  cursor: cursor(
    'Fetches logs after this position in the order: older ones, or newer ones with asc.',
  ).optional(),
  since: cursor('Fetches logs newer than this position, the oldest of them.').optional(),
  fields: parsed(parseRecordFields, recordFieldsForm)
    .meta({
      description:
        'Only these parts of each log beside logId and timestamp, separated by commas; ' +
        'default: all. Other parts are not read.',
      example: 'severity,message,customer.id',
    })
    .optional(),
});

export const bucketRange = {
  startTime: timestamp('Start of the range; synonym: sinceTime.'),
  endTime: timestamp('End of the range, exclusive; synonym: untilTime.'),
};

export const histogramQuery = z.strictObject({
  ...filters,
  ...bucketRange,
  buckets: integer(
    1,
    maxBuckets,
    'Number of buckets, whose edges are whole milliseconds; default 60. In a range of fewer ' +
      'milliseconds some start and end at one time and count nothing.',
  ).default(60),
  groupBy: groupField
    .optional()
    .describe('Adds the counts of the most frequent values of this field.'),
  topK: integer(1, maxTopK, 'Values listed with groupBy; default 10.').default(10),
});

const batchForm = `1 to ${maxBatchFields} fields separated by commas, each ${groupFieldForm}`;

const topK = integer(1, maxTopK, 'Values per field; default 10.').default(10);

export const facetsQuery = z.strictObject({
  ...filters,
  ...range,
  field: groupField.meta({
    description: `The field whose most common values are counted: ${groupFieldForm}.`,
    example: 'customer.id',
  }),
  topK,
});

export const facetsBatchQuery = z.strictObject({
  ...filters,
  ...range,
  fields: parsed((value) => parseGroupFields(value, maxBatchFields), batchForm).meta({
    description: `${batchForm}.`,
    example: 'severity,host,customer.id',
  }),
  topK,
});

const exportFormats = ['ndjson', 'csv'] as const;
export type ExportFormat = (typeof exportFormats)[number];
const maxExported = 999_999_999;

export const exportQuery = z.strictObject({
  ...filters,
  ...range,
  format: z
    .enum(exportFormats, { error: exportFormats.join(' or ') })
    .default('ndjson')
    .describe('ndjson: a log as JSON on each line. csv: RFC 4180. Default ndjson.'),
  limit: integer(1, maxExported, 'Number of logs, the newest first; default: all.').optional(),
});

/** Without range and page, since a tail does not end. */
export const tailQuery = z.strictObject({
  ...filters,
  maxLagSeconds: integer(
    1,
    300,
    'How far a reader may fall behind before logs are dropped; default 60.',
  ).default(60),
});

export const logParams = z.object({
  logId: z.string().meta({ format: 'uuid', description: 'The logId of a log.' }),
});

const streamId = list(uuid, 'Streams that the log may be in; speeds up the lookup.');

export const logQuery = z.strictObject({ streamId });

const maxAround = 200;

export const contextQuery = z.strictObject({
  streamId,
  before: integer(0, maxAround, 'Older logs; default 20.').default(20),
  after: integer(0, maxAround, 'Newer logs; default 20.').default(20),
  same: list(
    z.enum(['host', 'service'], { error: 'host or service' }),
    'Only logs of the same host, or of the same service and namespace. Repeated: both.',
  ),
});

export type ListQuery = z.output<typeof listQuery>;
export type HistogramQuery = z.output<typeof histogramQuery>;
export type FacetsQuery = z.output<typeof facetsQuery>;
export type ExportQuery = z.output<typeof exportQuery>;
export type TailQuery = z.output<typeof tailQuery>;
export type LogQuery = z.output<typeof logQuery>;
export type ContextQuery = z.output<typeof contextQuery>;
/** Filters and range. */
export type FilterQuery = Omit<FacetsQuery, 'field' | 'topK'>;
