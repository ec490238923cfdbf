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

/** @returns the position of the first key of an object, or of its closing brace */
export function firstMember(body: Buffer, at: number): number {
  at = skipSpace(body, at + 1);
  if (body[at] !== closeBrace && body[at] !== quote) failAt(body, at, 'a key in quotes');
  return at;
}

/** @returns the position of the next key of an object, or of its closing brace */
export function nextMember(body: Buffer, at: number): number {
  at = skipSpace(body, at);
  if (body[at] === closeBrace) return at;
  if (body[at] !== comma) failAt(body, at, "',' or '}'");
  at = skipSpace(body, at + 1);
  if (body[at] !== quote) failAt(body, at, 'a key in quotes');
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
  at = firstMember(body, at);
  while (body[at] !== closeBrace) at = nextMember(body, takeMember(body, at + 1, take));
  return at + 1;
}

/** @param at the position after the opening quote of the key */
function takeMember(body: Buffer, at: number, take: TakeMember): number {
  const scanned = scanString(body, at);
  if (scanned >= 0) return take(body, at, scanned, expectColon(body, scanned + 1));
  const key = Buffer.allocUnsafe(~scanned - at);
  const keyLength = unescape(body, at, ~scanned, key);
  return take(key, 0, keyLength, expectColon(body, ~scanned + 1));
}
