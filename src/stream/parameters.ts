/**
 * Query parameters as zod schemas that parse the text. zod omits `examples` and `default` from the
 * JSON Schema of a transform, so these use `example`, and descriptions name the default. Pure.
 */
import { z } from 'zod';
import { requestTimeForm } from '../codec/event-time.ts';
import { nilLogId } from '../model/log-id.ts';
import {
  type EqualityField,
  fieldNames,
  filterFields,
  type GroupField,
  isPossible,
  splitNames,
} from '../model/log-fields.ts';
import { parseSeverityNumber } from '../model/severity.ts';
import { labelForm, toGroupField } from '../query/fields.ts';
import { parsed, uuid } from '../std/parse-query.ts';
import { parseCursor } from './cursor.ts';
import { parseTimestamp } from './timestamps.ts';

const maxTextLength = 1_000;

const cursorForm = 'a cursor of an earlier response: <timestamp>,<logId>, or the JSON object';

export function text(description?: string) {
  const error = `at most ${maxTextLength} characters`;
  const schema = z.string().max(maxTextLength, { error });
  return description === undefined ? schema : schema.meta({ description });
}

/** Unix ns. */
export function timestamp(description: string) {
  return parsed(parseTimestamp, requestTimeForm).meta({
    description,
    example: '2026-04-01T08:30:00Z',
  });
}

export function cursor(description: string) {
  const example = `2026-04-01T08:30:00.000Z,${nilLogId}`;
  return parsed(parseCursor, cursorForm).meta({ description, example });
}

export const label = parsed(parseLabel, 'key:value', text()).meta({ example: 'region:eu-west' });

/** In the key `\:` is a colon and `\\` a backslash; the value is literal. */
function parseLabel(pair: string) {
  const [, key, value] = /^((?:[^:\\]|\\[^])+):([^]*)$/.exec(pair) ?? [];
  if (key === undefined || value === undefined) return undefined;
  return { key: key.replace(/\\([:\\])/g, '$1'), value };
}

const exclusionForm =
  `<field>:<value>, field being one of ${filterFields.join(', ')}; ` +
  'the value of streamId a UUID, of traceId 32 and of spanId 16 hex digits';

export const exclusion = parsed(parseExclusion, exclusionForm, text()).meta({
  example: 'severity:DEBUG',
});

function parseExclusion(pair: string) {
  const { key, value } = parseLabel(pair) ?? {};
  const field = filterFields.find((name) => name === key);
  if (field === undefined || value === undefined) return undefined;
  const isValid = field === 'streamId' ? uuid.safeParse(value).success : isPossible(field, value);
  return isValid ? { field, value } : undefined;
}

const severityForm =
  'a severity such as warn or error, or a severity number from 1 to 24 of OpenTelemetry';

/** A severity number. */
export const minSeverity = parsed(parseSeverityNumber, severityForm).meta({
  description:
    'Only logs of this severity or a higher one: a word such as warn, or a severity number of ' +
    'OpenTelemetry. Logs whose severity has no number do not match.',
  example: 'warn',
});

/** A field as it was named, for the answer. */
export interface NamedField {
  readonly name: string;
  readonly field: GroupField;
}

export const groupFieldForm = `one of ${fieldNames.join(', ')}, or ${labelForm}`;

export const groupField = parsed(toNamedField, groupFieldForm, text());

function toNamedField(name: string): NamedField | undefined {
  const field = toGroupField(name);
  return field && { name, field };
}

/** As `splitNames` takes them. @returns undefined where there are too many, or one is unknown */
export function parseGroupFields(value: string, most: number): NamedField[] | undefined {
  const fields = splitNames(value).map(toNamedField);
  return fields.length <= most && fields.every((field) => field !== undefined) ? fields : undefined;
}

/** A value that the field's column can hold. */
export function fieldValue(field: EqualityField, digits: number | undefined) {
  if (digits === undefined) return text();
  const parse = (value: string) => (isPossible(field, value) ? value : undefined);
  return parsed(parse, `${digits} hex digits`);
}
