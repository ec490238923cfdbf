/** Prepares the text of an OTLP JSON body. */
import { skipSpace } from '../../codec/json-scanner.ts';
import { logWarnings, type WarningCounts } from './log-record.ts';

/** Bytes repaired without yielding. */
const sliceBytes = 512 * 1024;

/** Replaces invalid UTF-8, so that one bad byte does not fail the request. */
export function* repairText(body: Buffer, warnings: WarningCounts): Generator<undefined, Buffer> {
  warnings.add(logWarnings.brokenText);
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const parts: Buffer[] = [];
  for (let at = 0; at < body.length; at += sliceBytes) {
    if (at > 0) yield;
    const part = body.subarray(at, at + sliceBytes);
    parts.push(Buffer.from(decoder.decode(part, { stream: true })));
  }
  parts.push(Buffer.from(decoder.decode()));
  return Buffer.concat(parts);
}

/** @returns the position of the first value, after a byte order mark and spaces */
export function findStart(text: Buffer): number {
  const hasMark = text[0] === 0xef && text[1] === 0xbb && text[2] === 0xbf;
  return skipSpace(text, hasMark ? 3 : 0);
}
