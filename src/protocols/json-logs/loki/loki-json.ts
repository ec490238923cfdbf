/** A push request of Loki in JSON as events, one in each line, without building its objects. */
import {
  closeBracket,
  comma,
  failAt,
  openBrace,
  openBracket,
  skipSpace,
  skipValue,
} from '../../../codec/json-scanner.ts';
import { endOfString, nextElement, readObject } from '../json-walk.ts';
import { EventLines, tooManyLabels, toMembers } from './loki-events.ts';

const maxDepth = 16;

/** @throws AppError `malformed` | `too_large` */
export function* eachJsonPiece(body: Buffer): Generator<Buffer> {
  const lines = new EventLines(body.length, 'latin1');
  let streams = -1;
  let at = skipSpace(body, 0);
  if (body[at] !== openBrace) failAt(body, at, 'an object');
  const end = readObject(body, at, maxDepth, (key, start) => {
    if (key === 'streams') streams = start;
  });
  at = skipSpace(body, end);
  if (at < body.length) failAt(body, at, 'the end of the body');
  if (streams < 0) failAt(body, end, 'an object with "streams"');
  if (body[streams] !== openBracket) failAt(body, streams, 'an array of streams');
  at = skipSpace(body, streams + 1);
  while (body[at] !== closeBracket) {
    if (body[at] !== openBrace) failAt(body, at, 'a stream');
    let labels = '';
    let values = -1;
    const streamEnd = readObject(body, at, maxDepth, (key, start, valueEnd) => {
      if (key === 'stream') labels = readLabels(body, start, valueEnd);
      else if (key === 'values') values = start;
    });
    if (values >= 0) yield* eachEntry(body, values, labels, lines);
    at = nextElement(body, streamEnd);
  }
  yield lines.take();
}

/** @param at the position of the array, which is valid JSON */
function* eachEntry(
  body: Buffer,
  at: number,
  labels: string,
  lines: EventLines,
): Generator<Buffer> {
  if (body[at] !== openBracket) failAt(body, at, 'an array of entries');
  at = skipSpace(body, at + 1);
  while (body[at] !== closeBracket) {
    if (body[at] !== openBracket) failAt(body, at, '[time, line]');
    const time = skipSpace(body, at + 1);
    const timeEnd = endOfString(body, time, 'a time in quotes');
    const line = skipSpace(body, timeEnd);
    if (body[line] !== comma) failAt(body, line, "','");
    const text = skipSpace(body, line + 1);
    const textEnd = endOfString(body, text, 'a line in quotes');
    at = skipSpace(body, textEnd);
    let metadata = '';
    if (body[at] === comma) {
      const start = skipSpace(body, at + 1);
      at = skipValue(body, start, maxDepth);
      metadata = readLabels(body, start, at);
      at = skipSpace(body, at);
    }
    if (body[at] !== closeBracket) failAt(body, at, "']'");
    lines.add(
      `${labels}${metadata}"timestamp":${body.toString('latin1', time, timeEnd)},` +
        `"message":${body.toString('latin1', text, textEnd)}`,
    );
    if (lines.isFull) yield lines.take();
    at = nextElement(body, at + 1);
  }
}

/** @returns the members of the labels, in the encoding of `latin1` */
function readLabels(body: Buffer, start: number, end: number): string {
  if (body[start] !== openBrace) failAt(body, start, 'an object of labels');
  if (end - start > tooManyLabels.bytes) throw tooManyLabels.error();
  const labels = JSON.parse(body.toString('utf8', start, end)) as object;
  return Buffer.from(toMembers(Object.entries(labels))).toString('latin1');
}
