/** Bodies as text: UTF-8 without a byte order mark. */
import { isUtf8 } from 'node:buffer';
import { AppError } from '../model/errors.ts';

const newline = 0x0a;
const mark = Buffer.from('\ufeff');
const replacement = Buffer.from('\ufffd');
/** Lines that are counted in one body, so that counting takes no longer than reading. */
const maxBrokenLines = 50_000;

export interface BodyText {
  /** Valid UTF-8. */
  readonly bytes: Buffer;
  /** Lines of which bytes were replaced. */
  readonly brokenLines: number;
}

export type ReadBodyText = (body: Buffer) => BodyText;

/** @throws AppError `malformed` */
export const requireText: ReadBodyText = (body) => {
  if (isUtf8(body)) return { bytes: withoutMark(body), brokenLines: 0 };
  throw new AppError('malformed', 'cannot read the body: it is not valid UTF-8');
};

/** Each byte that is not UTF-8 becomes U+FFFD: one bad byte must not lose the other events. */
export const repairText: ReadBodyText = (body) => {
  if (isUtf8(body)) return { bytes: withoutMark(body), brokenLines: 0 };
  const bytes = withoutMark(Buffer.from(body.toString('utf8')));
  return { bytes, brokenLines: countRepaired(bytes) };
};

function withoutMark(body: Buffer): Buffer {
  return body.subarray(0, mark.length).equals(mark) ? body.subarray(mark.length) : body;
}

function countRepaired(bytes: Buffer): number {
  let lines = 0;
  let at = bytes.indexOf(replacement);
  while (at >= 0 && lines < maxBrokenLines) {
    lines += 1;
    const end = bytes.indexOf(newline, at);
    at = end < 0 ? -1 : bytes.indexOf(replacement, end);
  }
  return lines;
}
