/** A push request of Loki in JSON: fills slots with one entry after another. */
import {
  closeBrace,
  closeBracket,
  comma,
  expectColon,
  failAt,
  openBrace,
  openBracket,
  quote,
  skipSpace,
  skipValue,
} from '../../../codec/json-scanner.ts';
import { AppError } from '../../../model/errors.ts';
import { createKeyTable, findKey } from '../../../codec/key-table.ts';
import { field } from '../event-fields.ts';
import { endOfString, firstMember, nextElement, nextMember } from '../json-walk.ts';
import type { EntrySlots } from './loki-entry.ts';

const streamsTable = createKeyTable(['streams']);
const member = { stream: 0, values: 1 } as const;
const streamTable = createKeyTable(Object.keys(member));
/** Levels of values that are not labels. */
const maxDepth = 16;
/** For clients of the API before version 1, which send `entries` instead. */
const noValues =
  'cannot find "values" in a stream: send {"stream": {…}, "values": [["<ns>", "<line>"], …]}';

/**
 * @param body valid UTF-8
 * @yields the bytes of each entry with its labels
 * @throws AppError `malformed`
 */
export function* eachJsonEntry(body: Buffer, entry: EntrySlots): Generator<number> {
  const start = skipSpace(body, 0);
  if (body[start] !== openBrace) failAt(body, start, 'an object');
  let hasStreams = false;
  let at = firstMember(body, start);
  while (body[at] !== closeBrace) {
    const keyEnd = endOfString(body, at, 'a key in quotes');
    const isStreams = findKey(streamsTable, body, at + 1, keyEnd - 1) >= 0;
    at = expectColon(body, keyEnd);
    if (isStreams) {
      hasStreams = true;
      at = yield* eachEntry(body, at, entry);
    } else {
      at = skipValue(body, at, maxDepth);
    }
    at = nextMember(body, at);
  }
  if (!hasStreams) failAt(body, at, 'an object with "streams"');
  at = skipSpace(body, at + 1);
  if (at < body.length) failAt(body, at, 'the end of the body');
}

/** @param at the array of streams. @returns the position after it */
function* eachEntry(body: Buffer, at: number, entry: EntrySlots): Generator<number, number> {
  if (body[at] !== openBracket) failAt(body, at, 'an array of streams');
  at = skipSpace(body, at + 1);
  while (body[at] !== closeBracket) {
    if (body[at] !== openBrace) failAt(body, at, 'a stream');
    const { labels, labelBytes, values, end } = readStream(body, at, entry);
    at = firstElement(body, values, 'an array of entries');
    while (body[at] !== closeBracket) {
      entry.clear();
      if (labels >= 0) entry.readLabels(labels);
      const entryEnd = readEntry(body, at, entry);
      entry.finish();
      yield labelBytes + entryEnd - at;
      at = nextElement(body, entryEnd);
    }
    at = nextElement(body, end);
  }
  return at + 1;
}

interface JsonStream {
  /** Position of its labels; -1 without any. */
  readonly labels: number;
  readonly labelBytes: number;
  readonly values: number;
  readonly end: number;
}

/** Labels may follow the entries. The last of repeated members counts. */
function readStream(body: Buffer, start: number, entry: EntrySlots): JsonStream {
  let labels = -1;
  let labelBytes = 0;
  let values = -1;
  let at = firstMember(body, start);
  while (body[at] !== closeBrace) {
    const keyEnd = endOfString(body, at, 'a key in quotes');
    const known = findKey(streamTable, body, at + 1, keyEnd - 1);
    at = expectColon(body, keyEnd);
    const valueAt = at;
    if (known === member.stream) {
      entry.clear();
      at = entry.readLabels(at);
      labels = valueAt;
      labelBytes = at - valueAt;
    } else {
      at = skipValue(body, at, maxDepth);
      if (known === member.values) values = valueAt;
    }
    at = nextMember(body, at);
  }
  if (values < 0) throw new AppError('malformed', noValues);
  return { labels, labelBytes, values, end: at + 1 };
}

function firstElement(body: Buffer, at: number, expected: string): number {
  if (body[at] !== openBracket) failAt(body, at, expected);
  return skipSpace(body, at + 1);
}

/** @param at an entry, of an array that is valid JSON. @returns the position after it */
function readEntry(body: Buffer, at: number, entry: EntrySlots): number {
  const time = firstElement(body, at, '[time, line]');
  if (body[time] !== quote) failAt(body, time, 'a time in quotes');
  const timeEnd = skipSpace(body, endOfString(body, time, 'a time in quotes'));
  if (body[timeEnd] !== comma) failAt(body, timeEnd, "','");
  const line = skipSpace(body, timeEnd + 1);
  if (body[line] !== quote) failAt(body, line, 'a line in quotes');
  entry.readText(field.timestamp, time);
  at = skipSpace(body, entry.readText(field.message, line));
  if (body[at] === comma) at = skipSpace(body, entry.readLabels(skipSpace(body, at + 1)));
  if (body[at] !== closeBracket) failAt(body, at, "']'");
  return at + 1;
}
