/** Lines of text and of logfmt as JSON events, one in each line. */
import { readLogfmt } from '../../codec/logfmt.ts';
import { tooManyBytes } from './event-batch.ts';
import { fieldKeys } from './event-fields.ts';
import { maxLabels } from './label-set.ts';

export type LineFormat = 'text' | 'logfmt';

const pieceBytes = 256 * 1024;
/** A short line as an event. */
const lineEventBytes = 16;
/** Of lines with the metadata that each repeats. */
const bytesPerBodyByte = 16;
const minMaxBytes = 16 * 1024 * 1024;
const newline = 0x0a;
/** With more keys than these, more than `maxLabels` of them are labels. */
const maxPairs = maxLabels + fieldKeys.length;
/**
 * Yields slices of complete lines, so that a large body is read in steps. Skips empty lines.
 * @param body valid UTF-8
 * @param metadata fields of each line of text
 * @throws AppError `too_large`
 */
export function* eachPiece(body: Buffer, format: LineFormat, metadata?: object): Generator<Buffer> {
  const withMetadata = (line: string) => ({ ...metadata, message: line });
  const toEvent = format === 'text' ? withMetadata : parseLogfmt;
  const isRepeated = metadata !== undefined;
  const metadataBytes = isRepeated ? Buffer.byteLength(JSON.stringify(metadata)) : 0;
  const stepBytes = Math.ceil((pieceBytes * lineEventBytes) / (lineEventBytes + metadataBytes));
  const maxBytes = isRepeated ? Math.max(body.length * bytesPerBodyByte, minMaxBytes) : Infinity;
  let bytes = 0;
  for (let start = 0; start < body.length; ) {
    const wanted = body.indexOf(newline, start + stepBytes);
    const end = wanted < 0 ? body.length : wanted + 1;
    const lines = body.toString('utf8', start, end).split('\n');
    // An empty line keeps the number of the others.
    const events = lines.map((line) => {
      const text = line.endsWith('\r') ? line.slice(0, -1) : line;
      return text.trim() === '' ? '' : JSON.stringify(toEvent(text));
    });
    const piece = Buffer.from(events.join('\n'));
    bytes += piece.length;
    if (bytes > maxBytes) throw tooManyBytes(maxBytes);
    yield piece;
    start = end;
  }
}

/** A line of another form is a message. */
function parseLogfmt(line: string): object {
  // With more pairs the event is rejected, before a long line takes seconds.
  const event = readLogfmt(line, maxPairs);
  if (event === undefined) return { message: line };
  const hasMessage = ['message', 'msg', 'event'].some((key) => event.has(key));
  return Object.fromEntries(hasMessage ? event : [['message', line], ...event]);
}
