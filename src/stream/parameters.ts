/**
 * Query parameters as zod schemas that parse the text. zod omits `examples` and `default` from the
 * JSON Schema of a transform, so these use `example`, and descriptions name the default. Pure.
 */
import { z } from 'zod';
import { nilLogId } from '../model/log-id.ts';
import { filterFields } from '../model/log-fields.ts';
import { uuid } from '../std/parse-query.ts';
import { parseCursor } from './cursor.ts';
import { parseTimestamp } from './timestamps.ts';

const maxTextLength = 1_000;

const timestampForm = 'a time from 1970 to 2149: RFC 3339, or epoch milliseconds';
const cursorForm = 'a cursor of an earlier answer: <timestamp>,<logId>, or the JSON object';
const labelForm = 'key:value';

export function text(description?: string) {
  const error = `at most ${maxTextLength} characters`;
  const schema = z.string().max(maxTextLength, { error });
  return description === undefined ? schema : schema.meta({ description });
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
