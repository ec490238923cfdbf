/**
 * Entries in the Journal Export Format
 * (https://systemd.io/JOURNAL_EXPORT_FORMATS/#journal-export-format): fields `NAME=text`, or a
 * name, eight bytes of length and the data; an empty line ends an entry.
 */
import { createKeyTable, findKey } from '../../../codec/key-table.ts';
import { AppError } from '../../../model/errors.ts';
import type { TextRange } from '../text-slots.ts';

const newline = 0x0a;
const equals = 0x3d;
const lengthBytes = 8;
const cursorTable = createKeyTable(['__CURSOR']);

/** Takes the ranges of a field. The name is text, the value may be any bytes. */
export type TakeField = (name: TextRange, value: TextRange) => void;

/**
 * Reads the entry after any empty lines.
 * @returns the position after it
 * @throws AppError `malformed`
 */
export function readEntry(body: Buffer, at: number, take: TakeField): number {
  while (body[at] === newline) at += 1;
  while (at < body.length && body[at] !== newline) {
    const line = body.indexOf(newline, at);
    const lineEnd = line < 0 ? body.length : line;
    const sign = findSign(body, at, lineEnd);
    if (sign === at) throw malformed(at, 'a field has no name');
    if (sign < lineEnd) {
      take({ start: at, end: sign }, { start: sign + 1, end: lineEnd });
      at = lineEnd + 1;
      continue;
    }
    const start = lineEnd + 1 + lengthBytes;
    if (start > body.length) throw malformed(at, 'it ends within a field');
    const end = start + Number(body.readBigUInt64LE(lineEnd + 1));
    // Data that was cut has its length; only its line break shows that all of it was sent.
    if (end >= body.length) throw malformed(at, 'it ends within a field');
    if (body[end] !== newline) {
      throw malformed(at, 'no line break follows the data of a field');
    }
    take({ start: at, end: lineEnd }, { start, end });
    at = end + 1;
  }
  return Math.min(at + 1, body.length);
}

/** @returns the position of the first equals sign, or the end */
function findSign(body: Buffer, at: number, end: number): number {
  while (at < end && body[at] !== equals) at += 1;
  return at;
}

/** @returns the body without its first entries, and their count. @throws AppError `malformed` */
export function skipEntries(body: Buffer, entries: number): { rest: Buffer; skipped: number } {
  let at = 0;
  let skipped = 0;
  while (skipped < entries && at < body.length) {
    let isEntry = false;
    at = readEntry(body, at, () => (isEntry = true));
    // Not empty lines at the end.
    if (isEntry) skipped += 1;
  }
  return { rest: body.subarray(at), skipped };
}

/** @returns the position of the last entry. @throws AppError `malformed` */
export function lastEntry(body: Buffer): number {
  let last = 0;
  for (let at = 0; at < body.length; ) {
    let isEntry = false;
    const end = readEntry(body, at, () => (isEntry = true));
    if (isEntry) last = at;
    at = end;
  }
  return last;
}

/** @returns the cursor of the first entry. @throws AppError `malformed` */
export function firstCursor(body: Buffer): string | undefined {
  let cursor: string | undefined;
  readEntry(body, 0, (name, { start, end }) => {
    if (findKey(cursorTable, body, name.start, name.end) >= 0) {
      cursor ??= body.toString('utf8', start, end);
    }
  });
  return cursor;
}

export function malformed(at: number, reason: string): AppError {
  return new AppError('malformed', `cannot read the journal at byte ${at} of a step: ${reason}`);
}
