/** Compiles the steps of a transform into one function of an event. Pure but for random samples. */
import { RE2JS } from 're2js';
import { readLogfmt } from '../codec/logfmt.ts';
import type { FieldCondition, TransformStep } from '../model/transform.ts';
import type { TransformEvent } from './event.ts';
import { createCustomRedaction, createRedaction } from './redact.ts';

/** What happened to events, by a fixed text. */
export type Changes = Map<Change, number>;

export const changes = {
  dropped: 'dropped by the transform',
  sampledOut: 'left out by sampling',
  redacted: 'redacted',
  unparsed: 'message not parsed',
  tooMany: 'fields beyond the limit left out',
} as const;
export type Change = (typeof changes)[keyof typeof changes];

/** @returns false if the event is dropped */
export type CompiledTransform = (event: TransformEvent, counts: Changes) => boolean;

/** Labels of an event after a step. */
const maxLabels = 256;
/** Patterns do not search what follows. */
const maxSearchedLength = 64 * 1024;
/** Parsing 10 MiB of nested arrays takes a minute. */
const maxParsedLength = 256 * 1024;
/** A value that a step adds, or what a redaction adds to an event. */
const maxAddedLength = 64 * 1024;

export function compileTransform(steps: readonly TransformStep[]): CompiledTransform {
  const compiled = steps.map(compileStep);
  return (event, counts) => compiled.every((step) => step(event, counts));
}

function compileStep(step: TransformStep): CompiledTransform {
  switch (step.type) {
    case 'parse':
      return compileParse(step);
    case 'extract':
      return compileExtract(step);
    case 'rename':
      return (event) => {
        const value = event.get(step.from);
        if (value === undefined || step.from === step.to) return true;
        event.remove(step.from);
        event.set(step.to, value);
        return true;
      };
    case 'remove':
      return (event) => {
        for (const field of step.fields) event.remove(field);
        return true;
      };
    case 'drop': {
      const holds = compileCondition(step.where);
      return (event, counts) => !holds(event) || count(counts, changes.dropped, false);
    }
    case 'redact':
      return compileRedact(step);
    case 'sample':
      return compileSample(step);
  }
}

function compileParse({ format, prefix }: TransformStep & { type: 'parse' }): CompiledTransform {
  return (event, counts) => {
    const fields = parseFields(event.get('message') ?? '', format, maxLabels);
    if (fields === undefined) return count(counts, changes.unparsed, true);
    for (const [name, value] of fields) {
      add(event, counts, [prefix === '' ? toFieldName(name) : prefix + name, value]);
    }
    return true;
  };
}

function compileExtract({ pattern, from }: TransformStep & { type: 'extract' }): CompiledTransform {
  const compiled = RE2JS.compile(pattern);
  const names = Object.keys(compiled.namedGroups());
  return (event, counts) => {
    const matcher = compiled.matcher((event.get(from) ?? '').slice(0, maxSearchedLength));
    if (!matcher.find()) return true;
    const found = names.map((name) => [name, matcher.group(name)] as const);
    for (const [name, value] of found) if (value) add(event, counts, [name, value]);
    return true;
  };
}

function compileRedact(step: TransformStep & { type: 'redact' }): CompiledTransform {
  const { kinds, pattern, replacement } = step;
  const redactions = kinds.map((kind) => createRedaction(kind, replacement));
  if (pattern !== undefined) redactions.push(createCustomRedaction(pattern, replacement));
  return (event, counts) => {
    let isChanged = false;
    let addedLength = 0;
    event.eachText((value, label) => {
      const redacted = redactions.reduce((text, redact) => redact(text, label), value);
      if (redacted === value) return value;
      isChanged = true;
      const growth = redacted.length - value.length;
      if (addedLength + growth > maxAddedLength) return replacement;
      addedLength += Math.max(growth, 0);
      return redacted;
    });
    return !isChanged || count(counts, changes.redacted, true);
  };
}

function compileSample({
  share,
  by,
  where,
}: TransformStep & { type: 'sample' }): CompiledTransform {
  const holds = where === undefined ? () => true : compileCondition(where);
  const draw = (event: TransformEvent) => {
    const value = by === undefined ? undefined : event.get(by);
    return value === undefined ? Math.random() : hash(value) / 2 ** 32;
  };
  return (event, counts) =>
    !holds(event) || draw(event) < share || count(counts, changes.sampledOut, false);
}

function compileCondition({
  field,
  is,
  matches,
}: FieldCondition): (event: TransformEvent) => boolean {
  if (matches === undefined) {
    const wanted = is?.toLowerCase() ?? '';
    return (event) => (event.get(field) ?? '').toLowerCase() === wanted;
  }
  const compiled = RE2JS.compile(matches);
  return (event) => {
    const value = event.get(field);
    return value !== undefined && compiled.matcher(value.slice(0, maxSearchedLength)).find();
  };
}

function add(event: TransformEvent, counts: Changes, [name, value]: readonly [string, string]) {
  const isTooMuch = value.length > maxAddedLength || event.labels() >= maxLabels;
  // A message takes the place of the one that it was part of.
  if (isTooMuch && name !== 'message') count(counts, changes.tooMany, true);
  else event.set(name, value);
}

function count<Result>(counts: Changes, change: Change, result: Result): Result {
  counts.set(change, (counts.get(change) ?? 0) + 1);
  return result;
}

/** FNV-1a with the finalizer of MurmurHash3, so that close values spread. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  }
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}

/** Names in loggers' output of fields with a column. */
const aliases: Readonly<Record<string, string>> = {
  msg: 'message',
  level: 'severity',
  service: 'service_name',
  'service.name': 'service_name',
  'service.namespace': 'service_namespace',
  hostname: 'host',
  traceId: 'trace_id',
  spanId: 'span_id',
  'trace.id': 'trace_id',
  'span.id': 'span_id',
};

/** @returns undefined if the text has another format or is too long */
function parseFields(
  text: string,
  format: 'json' | 'logfmt',
  maxFields: number,
): Iterable<readonly [name: string, value: string]> | undefined {
  if (text.length > maxParsedLength) return undefined;
  return format === 'json' ? parseObject(text) : readLogfmt(text, maxFields);
}

function toFieldName(name: string): string {
  return Object.hasOwn(aliases, name) ? aliases[name]! : name;
}

function parseObject(text: string): (readonly [string, string])[] | undefined {
  if (!/^\s*\{/.test(text)) return undefined;
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    // Another format is data, not a fault.
    return undefined;
  }
  return Object.entries(parsed as object)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]);
}
