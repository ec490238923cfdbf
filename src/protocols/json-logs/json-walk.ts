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
  unescape,
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
 * Takes a member, whose key is a range of `source`, and whose value is at `at` of the body.
 * @returns the position after the value
 */
export type TakeMember = (source: Buffer, start: number, end: number, at: number) => number;

/**
 * Calls `take` for each member of the object at `at`, which reads its value.
 * @returns the position after the object. @throws AppError `malformed`
 */
export function walkMembers(body: Buffer, at: number, take: TakeMember): number {
  at = skipSpace(body, at + 1);
  if (body[at] === closeBrace) return at + 1;
  for (;;) {
    if (body[at] !== quote) failAt(body, at, 'a key in quotes');
    at = skipSpace(body, takeMember(body, at + 1, take));
    if (body[at] === closeBrace) return at + 1;
    if (body[at] !== comma) failAt(body, at, "',' or '}'");
    at = skipSpace(body, at + 1);
  }
}

/** @param at the position after the opening quote of the key */
function takeMember(body: Buffer, at: number, take: TakeMember): number {
  const scanned = scanString(body, at);
  if (scanned >= 0) return take(body, at, scanned, expectColon(body, scanned + 1));
  const key = Buffer.allocUnsafe(~scanned - at);
  const keyLength = unescape(body, at, ~scanned, key);
  return take(key, 0, keyLength, expectColon(body, ~scanned + 1));
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
