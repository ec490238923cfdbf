/** Steps through JSON without building its objects. Positions are bytes of the body. */
import {
  closeBrace,
  closeBracket,
  comma,
  expectColon,
  failAt,
  quote,
  scanString,
  skipSpace,
  skipValue,
} from '../../codec/json-scanner.ts';

/** @returns the position after the string */
export function endOfString(body: Buffer, at: number, expected: string): number {
  if (body[at] !== quote) failAt(body, at, expected);
  const end = scanString(body, at + 1);
  return (end < 0 ? ~end : end) + 1;
}

/** @returns the position of the next element of an array, or of its closing bracket */
export function nextElement(body: Buffer, at: number): number {
  at = skipSpace(body, at);
  if (body[at] === closeBracket) return at;
  if (body[at] !== comma) failAt(body, at, "',' or ']'");
  at = skipSpace(body, at + 1);
  if (body[at] === closeBracket) failAt(body, at, 'an element');
  return at;
}

/**
 * Calls `take` for each member, with its key as written in the body.
 * @returns the position after the object. @throws AppError `malformed`
 */
export function readObject(
  body: Buffer,
  at: number,
  maxDepth: number,
  take: (key: string, start: number, end: number) => void,
): number {
  at = skipSpace(body, at + 1);
  if (body[at] === closeBrace) return at + 1;
  for (;;) {
    const keyEnd = endOfString(body, at, 'a key in quotes');
    const start = expectColon(body, keyEnd);
    const end = skipValue(body, start, maxDepth);
    take(body.toString('latin1', at + 1, keyEnd - 1), start, end);
    at = skipSpace(body, end);
    if (body[at] === closeBrace) return at + 1;
    if (body[at] !== comma) failAt(body, at, "',' or '}'");
    at = skipSpace(body, at + 1);
  }
}
