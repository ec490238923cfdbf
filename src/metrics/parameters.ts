/**
 * The kinds of parameters of Prometheus' API, as zod schemas from the text that was sent to typed
 * values. Pure.
 */
import { z } from 'zod';
import { parseMetricTime } from './times.ts';

const timeForm = 'a time: Unix seconds, or RFC 3339 from 1970 to 2149';

/** Unix ms. */
export function time(description: string) {
  return z
    .string()
    .transform((value, context) => {
      const millis = parseMetricTime(value);
      if (millis !== undefined) return millis;
      context.issues.push({ code: 'custom', message: timeForm, input: value });
      return z.NEVER;
    })
    .optional()
    .meta({ description, example: '2026-04-01T08:30:00Z' });
}

/** A whole number; 0 = as many as there may be, as with Prometheus. */
export function limit(description: string) {
  const error = 'a whole number that is not negative';
  const toInteger = (value: unknown) =>
    typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value;
  return z
    .preprocess(toInteger, z.int({ error }).min(0, { error }))
    .optional()
    .meta({ description });
}

/** A parameter that may be repeated; each occurrence is one value. */
export function list<Item extends z.ZodType>(item: Item, description: string) {
  const toList = (value: unknown) => (typeof value === 'string' ? [value] : value);
  return z.preprocess(toList, z.array(item)).optional().meta({ description });
}

export const uuid = z
  .guid({ error: 'a UUID' })
  .transform((value) => value.toLowerCase())
  .meta({ example: '0b9f6a3e-3c5d-4a51-9a3a-6e3b1c0a7f10' });
