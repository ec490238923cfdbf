/** Errors of the text formats: each names its place in the body, as an editor would show it. */
import { AppError } from '../../model/errors.ts';

/** What is shown of the text at fault, in characters. */
const maxFound = 24;
const newline = 0x0a;

/**
 * @param expected what should stand at this place.
 * @throws AppError `malformed`
 */
export function failAt(bytes: Buffer, at: number, expected: string): never {
  refuseAt(bytes, at, `expected ${expected}, found ${describeFound(bytes, at)}`);
}

/** @throws AppError `malformed` */
export function refuseAt(bytes: Buffer, at: number, reason: string): never {
  throw new AppError(
    'malformed',
    `cannot read the metrics: ${describePlace(bytes, at)}: ${reason}`,
  );
}

/** Line and column from 1; columns count characters (code points), not bytes. */
export function describePlace(bytes: Buffer, at: number): string {
  let line = 1;
  let column = 1;
  for (let i = 0; i < at; i += 1) {
    const byte = bytes[i]!;
    if (byte === newline) {
      line += 1;
      column = 1;
    } else if ((byte & 0xc0) !== 0x80) column += 1;
  }
  return `line ${line}, column ${column}`;
}

function describeFound(bytes: Buffer, at: number): string {
  if (at >= bytes.length) return 'the end of the body';
  if (bytes[at] === newline) return 'the end of the line';
  const end = bytes.indexOf(newline, at);
  // No character takes more than four bytes, so none that is shown is cut.
  const limit = Math.min(end < 0 ? bytes.length : end, at + 4 * maxFound);
  const characters = Array.from(bytes.toString('utf8', at, limit));
  const found = characters.slice(0, maxFound).join('');
  return JSON.stringify(characters.length > maxFound ? `${found}…` : found);
}
