/** Parses a query string by a schema into typed parameters, or fails with one sentence. */
import { z } from 'zod';
import { AppError } from '../model/errors.ts';

/** Names and values as sent, decoded. */
export type Parameters = Iterable<[name: string, value: string]>;

type Raw = Record<string, string | string[]>;

const synonyms = [
  ['sinceTime', 'startTime'],
  ['untilTime', 'endTime'],
] as const;

/** The parameters of a query string or a form, decoded as by URLSearchParams. */
export function parseParameters(text: string): [name: string, value: string][] {
  const parameters: [string, string][] = [];
  for (let from = 0; from < text.length; ) {
    const next = text.indexOf('&', from);
    const to = next < 0 ? text.length : next;
    const mark = text.indexOf('=', from);
    const end = mark < 0 || mark > to ? to : mark;
    if (to > from) {
      parameters.push([decode(text.slice(from, end)), decode(text.slice(end + 1, to))]);
    }
    from = to + 1;
  }
  return parameters;
}

function decode(encoded: string): string {
  const text = encoded.includes('+') ? encoded.replaceAll('+', ' ') : encoded;
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    // Bytes that are not UTF-8, or a `%` that stands for itself.
    return new URLSearchParams(`=${encoded}`).get('') ?? '';
  }
}

/** Whether a parameter counts as one that was not sent. */
export type IsAbsent = (name: string, value: string) => boolean;

const neverAbsent: IsAbsent = () => false;

/** @throws AppError `malformed`, naming the parameter; for an unknown one also the known ones. */
export function parseQuery<Schema extends z.ZodObject>(
  schema: Schema,
  search: Parameters,
  isAbsent = neverAbsent,
): z.output<Schema> {
  const raw = toRaw(search, schema.shape, isAbsent);
  const result = schema.safeParse(raw);
  if (result.success) return result.data;
  const { issues } = result.error;
  // A typo first: a missing parameter may be its consequence.
  const unknown = issues.find(({ code }) => code === 'unrecognized_keys');
  throw toError(unknown ?? issues[0]!, raw, schema);
}

/** Repeated parameters, including synonyms, become a list. */
function toRaw(search: Parameters, known: z.core.$ZodShape, isAbsent: IsAbsent): Raw {
  const raw = Object.create(null) as Raw;
  for (const [sent, value] of search) {
    if (isAbsent(sent, value)) continue;
    const name = canonicalName(sent, known);
    const earlier = raw[name];
    if (earlier === undefined) raw[name] = value;
    else if (typeof earlier === 'string') raw[name] = [earlier, value];
    else earlier.push(value);
  }
  return raw;
}

function canonicalName(sent: string, known: z.core.$ZodShape): string {
  if (Object.hasOwn(known, sent)) return sent;
  const pair = synonyms.find((names) => names.some((name) => name === sent));
  return pair?.find((name) => Object.hasOwn(known, name)) ?? sent;
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
      ? `cannot accept parameter ${parameter} more than once`
      : `cannot read parameter ${parameter} ${quoted(offending ?? '')}: ` +
        `it must be ${issue.message}`;
  return new AppError('malformed', message, { parameter });
}

/** Truncates long values in messages. */
function quoted(value: string): string {
  return JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value);
}

/**
 * The parameters of a route and its handler, which receives them parsed.
 * @throws AppError `malformed` from `read`
 */
export function withQuery<
  Schema extends z.ZodObject,
  Request extends { readonly search: Parameters },
  Answer,
>(
  query: Schema,
  read: (query: z.output<Schema>, request: Request) => Promise<Answer>,
  isAbsent = neverAbsent,
) {
  return {
    query,
    read: async (request: Request) => read(parseQuery(query, request.search, isAbsent), request),
  };
}

export const uuid = z
  .guid({ error: 'a UUID' })
  .transform((value) => value.toLowerCase())
  .meta({ example: '0b9f6a3e-3c5d-4a51-9a3a-6e3b1c0a7f10' });

/** A parameter that may be repeated; each occurrence is one value. */
export function list<Item extends z.ZodType>(item: Item, description: string, maxValues = 100) {
  const error = `at most ${maxValues} values`;
  const toList = (value: unknown) => (typeof value === 'string' ? [value] : value);
  const items = z.array(item);
  return z
    .preprocess(toList, maxValues === Infinity ? items : items.max(maxValues, { error }))
    .optional()
    .meta({ description });
}

/**
 * @param parse returns undefined for invalid text
 * @param form of valid text, for the error
 */
export function parsed<Value>(
  parse: (text: string) => Value | undefined,
  form: string,
  text: z.ZodString = z.string(),
) {
  return text.transform((value, context) => {
    const result = parse(value);
    if (result !== undefined) return result;
    context.issues.push({ code: 'custom', message: form, input: value });
    return z.NEVER;
  });
}

export function integer(min: number, max: number, description: string) {
  const error = `a whole number from ${min} to ${max}`;
  const toInteger = (value: unknown) =>
    typeof value === 'string' && /^-?\d{1,9}$/.test(value) ? Number(value) : value;
  return z
    .preprocess(toInteger, z.int({ error }).min(min, { error }).max(max, { error }))
    .meta({ description });
}
