/**
 * From the query string as it was sent to the typed parameters of a schema, or the one sentence
 * that says why not.
 */
import type { z } from 'zod';
import { AppError } from '../model/errors.ts';

type Raw = Record<string, string | string[]>;

const synonyms = [
  ['sinceTime', 'startTime'],
  ['untilTime', 'endTime'],
] as const;

/**
 * @throws AppError `malformed`, naming the parameter; an unknown one gets the list of the known.
 */
export function parseQuery<Schema extends z.ZodObject>(
  schema: Schema,
  search: URLSearchParams,
): z.output<Schema> {
  const raw = toRaw(search, Object.keys(schema.shape));
  const result = schema.safeParse(raw);
  if (result.success) return result.data;
  const { issues } = result.error;
  // A typo first: what it leaves missing is only its consequence.
  const unknown = issues.find(({ code }) => code === 'unrecognized_keys');
  throw toError(unknown ?? issues[0]!, raw, schema);
}

/** A parameter given more than once, by one name or by a synonym, becomes a list. */
function toRaw(search: URLSearchParams, known: readonly string[]): Raw {
  const raw = Object.create(null) as Raw;
  for (const [sent, value] of search) {
    const name = canonicalName(sent, known);
    const earlier = raw[name];
    if (earlier === undefined) raw[name] = value;
    else raw[name] = typeof earlier === 'string' ? [earlier, value] : [...earlier, value];
  }
  return raw;
}

function canonicalName(sent: string, known: readonly string[]): string {
  if (known.includes(sent)) return sent;
  const pair = synonyms.find((names) => names.some((name) => name === sent));
  return pair?.find((name) => known.includes(name)) ?? sent;
}

function toError(issue: z.core.$ZodIssue, raw: Raw, schema: z.ZodObject): AppError {
  if (issue.code === 'unrecognized_keys') {
    const parameter = issue.keys[0]!;
    const known = Object.keys(schema.shape).join(', ');
    const message = `cannot use unknown parameter ${quoted(parameter)}; known are ${known}`;
    return new AppError('malformed', message, { parameter });
  }
  const parameter = String(issue.path[0] ?? '');
  const value = raw[parameter];
  if (value === undefined) {
    return new AppError('malformed', `cannot answer without parameter ${parameter}`, { parameter });
  }
  const index = issue.path[1];
  const offending = typeof value === 'string' ? value : value[Number(index)];
  const message =
    offending === undefined && issue.code === 'invalid_type'
      ? `cannot take parameter ${parameter} more than once`
      : `cannot read parameter ${parameter} ${quoted(offending ?? '')}: ` +
        `it must be ${issue.message}`;
  return new AppError('malformed', message, { parameter });
}

/** Long values are cut: the message repeats enough of them to be recognised. */
function quoted(value: string): string {
  return JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value);
}
