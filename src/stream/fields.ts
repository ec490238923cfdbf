/** Fields and their values for completion: parameters, plans and answers. Pure. */
import { z } from 'zod';
import { AppError } from '../model/errors.ts';
import { nameOfField } from '../model/log-fields.ts';
import type {
  FieldsPlan,
  FieldsResult,
  FieldValuesPlan,
  FieldValuesResult,
} from '../model/plan.ts';
import type { ReadContext } from '../model/readable-streams.ts';
import { toGroupField } from '../query/fields.ts';
import { integer } from '../std/parse-query.ts';
import { groupFieldForm, text } from './parameters.ts';
import { toFilter } from './plan.ts';
import { filters, range } from './requests.ts';

export const fieldsQuery = z.strictObject({
  ...filters,
  ...range,
  limit: integer(1, 1_000, 'Fields listed, the most frequent first; default 200.').default(200),
});

export const fieldParams = z.object({
  name: z.string().meta({ description: `${groupFieldForm}.`, examples: ['customer.id'] }),
});

export const fieldValuesQuery = z.strictObject({
  ...filters,
  ...range,
  prefix: text('Only values that begin with it, in any case.').default(''),
  limit: integer(1, 100, 'Values listed, the most frequent first; default 20.').default(20),
});

const sample = {
  sampled: z.int().describe('Matching logs that were counted, the newest.'),
  exact: z.boolean().describe('Whether all matching logs were counted.'),
};

export const fieldsResponse = z.object({
  fields: z.array(
    z.object({
      name: z.string().describe('As other parameters take it.'),
      count: z.int().describe('Counted logs that have a value.'),
    }),
  ),
  ...sample,
});

export const fieldValuesResponse = z.object({
  field: z.string().describe('The requested name.'),
  values: z.array(z.object({ value: z.string(), count: z.int() })),
  ...sample,
});

/** @throws AppError `not_found` */
export function planFields(context: ReadContext, query: z.output<typeof fieldsQuery>): FieldsPlan {
  return { filter: toFilter(context, query), limit: query.limit };
}

export function toFieldsResponse({
  fields,
  sampled,
  isExact,
}: FieldsResult): z.output<typeof fieldsResponse> {
  const named = fields.map(({ field, count }) => ({ name: nameOfField(field), count }));
  return { fields: named, sampled, exact: isExact };
}

/** @throws AppError `malformed`, `not_found` */
export function planFieldValues(
  context: ReadContext,
  name: string,
  query: z.output<typeof fieldValuesQuery>,
): FieldValuesPlan {
  const field = toGroupField(name);
  if (field === undefined) {
    const message = `cannot read field ${JSON.stringify(name.slice(0, 80))}: it must be `;
    throw new AppError('malformed', message + groupFieldForm, { parameter: 'name' });
  }
  const { prefix, limit } = query;
  return { filter: toFilter(context, query), field, prefix, limit };
}

export function toFieldValuesResponse(
  name: string,
  { values, sampled, isExact }: FieldValuesResult,
): z.output<typeof fieldValuesResponse> {
  return { field: name, values: [...values], sampled, exact: isExact };
}
