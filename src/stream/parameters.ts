/**
 * The kinds of query parameters, as zod schemas from the text that was sent to typed values. Pure.
 * They carry `example` and name their default in words: zod leaves `examples` and `default` out of
 * the JSON Schema of anything that transforms.
 */
import { z } from 'zod';
import { nilLogId } from '../model/log-id.ts';
import { filterFields } from '../model/log-fields.ts';
import { parseCursor } from './cursor.ts';
import { parseTimestamp } from './timestamps.ts';

const maxTextLength = 1_000;
const maxValues = 100;

const timestampForm = 'a time from 1970 to 2149: RFC 3339, or epoch milliseconds';
const cursorForm = 'a cursor of an earlier answer: <timestamp>,<logId>, or the JSON object';
const labelForm = 'key:value';

export function text(description?: string) {
  const error = `at most ${maxTextLength} characters`;
  const schema = z.string().max(maxTextLength, { error });
  return description === undefined ? schema : schema.meta({ description });
}

/** A parameter that may be repeated; each occurrence is one value. */
export function list<Item extends z.ZodType>(item: Item, description: string) {
  const error = `at most ${maxValues} values`;
  const toList = (value: unknown) => (typeof value === 'string' ? [value] : value);
  return z
    .preprocess(toList, z.array(item).max(maxValues, { error }))
    .optional()
    .meta({ description });
}

export function integer(min: number, max: number, description: string) {
  const error = `a whole number from ${min} to ${max}`;
  const toInteger = (value: unknown) =>
    typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value;
  return z
    .preprocess(toInteger, z.int({ error }).min(min, { error }).max(max, { error }))
    .meta({ description });
}

/** Unix ns. */
export function timestamp(description: string) {
  return z
    .string()
    .transform((value, context) => {
      const nanos = parseTimestamp(value);
      if (nanos !== undefined) return nanos;
      context.issues.push({ code: 'custom', message: timestampForm, input: value });
      return z.NEVER;
    })
    .meta({ description, example: '2026-04-01T08:30:00Z' });
}

export function cursor(description: string) {
  return z
    .string()
    .transform((value, context) => {
      const found = parseCursor(value);
      if (found !== undefined) return found;
      context.issues.push({ code: 'custom', message: cursorForm, input: value });
      return z.NEVER;
    })
    .meta({ description, example: `2026-04-01T08:30:00.000Z,${nilLogId}` });
}

export const label = z
  .string()
  .max(maxTextLength, { error: `at most ${maxTextLength} characters` })
  .transform((value, context) => {
    const colon = value.indexOf(':');
    if (colon > 0) return { key: value.slice(0, colon), value: value.slice(colon + 1) };
    context.issues.push({ code: 'custom', message: labelForm, input: value });
    return z.NEVER;
  })
  .meta({ example: 'region:eu-west' });

export const uuid = z
  .guid({ error: 'a UUID' })
  .transform((value) => value.toLowerCase())
  .meta({ example: '0b9f6a3e-3c5d-4a51-9a3a-6e3b1c0a7f10' });

const exclusionForm =
  `<field>:<value>, field being one of ${filterFields.join(', ')}; ` +
  'the value of streamId a UUID';

export const exclusion = z
  .string()
  .max(maxTextLength, { error: `at most ${maxTextLength} characters` })
  .transform((value, context) => {
    const colon = value.indexOf(':');
    const field = filterFields.find((name) => name === value.slice(0, Math.max(0, colon)));
    const excluded = value.slice(colon + 1);
    const isPossible = field !== 'streamId' || uuid.safeParse(excluded).success;
    if (field !== undefined && isPossible) return { field, value: excluded };
    context.issues.push({ code: 'custom', message: exclusionForm, input: value });
    return z.NEVER;
  })
  .meta({ example: 'severity:DEBUG' });
