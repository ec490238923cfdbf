/**
 * CSV (RFC 4180) to events. The first record names the columns: columns of an export, fields of a
 * JSON event, or labels.
 */
import { fieldEntries, logFields } from '../../model/log-fields.ts';
import type { OutgoingEvent } from './batcher.ts';
import { type EventDefaults, type LineReading, readObject } from './event-line.ts';
import {
  countReading,
  type Line,
  LineSplitter,
  maxLineBytes,
  type SourceOptions,
  tooLong,
  toText,
} from './lines.ts';
import type { EventSource } from './pump.ts';

/** Columns of an export by the field or label that they become; undefined = left out. */
const exportedColumns: Readonly<Record<string, string | undefined>> = {
  serviceName: 'service_name',
  serviceNamespace: 'service_namespace',
  traceId: 'trace_id',
  spanId: 'span_id',
  scopeName: logFields.scope.attribute,
  ...Object.fromEntries(
    fieldEntries.flatMap(([name, { attribute }]) =>
      attribute === undefined ? [] : [[name, attribute]],
    ),
  ),
  streamId: undefined,
  receiverId: undefined,
  logId: undefined,
  receivedAt: undefined,
};

export function createCsvSource(
  defaults: EventDefaults,
  { tally, settledOffset = 0 }: SourceOptions,
): EventSource {
  const splitter = new LineSplitter();
  let columns: readonly (string | undefined)[] | undefined;
  /** Lines of a record with an open quote. */
  let open: string[] = [];
  let openLength = 0;
  let firstLine = 0;

  function* toEvents(lines: readonly Line[]): Iterable<OutgoingEvent> {
    for (const { bytes, number, endOffset } of lines) {
      if (open.length === 0) firstLine = number;
      const text = bytes === undefined ? undefined : toText(bytes, tally);
      openLength += text?.length ?? 0;
      const isTooLong = text === undefined || openLength > maxLineBytes;
      if (!isTooLong) {
        open.push(text);
        // An odd number of quotes opens or closes a record of several lines.
        if (hasOddQuotes(text) === (open.length === 1)) continue;
      }
      const record = open.join('\n');
      open = [];
      openLength = 0;
      const cells = isTooLong ? undefined : toCells(record.replace(/\r$/, ''));
      if (columns === undefined && cells !== undefined) {
        columns = cells.map((name) =>
          Object.hasOwn(exportedColumns, name) ? exportedColumns[name] : name,
        );
      } else if (endOffset > settledOffset) {
        const reading = cells === undefined ? tooLong : readCells(columns ?? [], cells, defaults);
        yield* countReading(reading, { line: firstLine, endOffset }, tally);
      }
    }
  }

  return {
    push: (chunk) => toEvents(splitter.push(chunk)),
    *end() {
      yield* toEvents(splitter.end());
      if (open.length === 0) return;
      const unclosed: LineReading = { kind: 'fault', reason: 'a quote has no end' };
      countReading(unclosed, { line: firstLine, endOffset: 0 }, tally);
    },
  };
}

function hasOddQuotes(text: string): boolean {
  let isOdd = false;
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at + 1)) isOdd = !isOdd;
  return isOdd;
}

function readCells(
  columns: readonly (string | undefined)[],
  cells: readonly string[],
  defaults: EventDefaults,
): LineReading | undefined {
  if (cells.length === 1 && cells[0] === '') return undefined;
  if (cells.length !== columns.length) {
    const reason = `it has ${cells.length} cells, and the first line ${columns.length}`;
    return { kind: 'fault', reason };
  }
  const members = columns.flatMap((name, index) => {
    const cell = cells[index] ?? '';
    return name === undefined || (cell === '' && name !== 'message') ? [] : [toMember(name, cell)];
  });
  const text = `{${members.join(',')}}`;
  try {
    return readObject(JSON.parse(text) as Record<string, unknown>, text, defaults);
  } catch {
    return { kind: 'fault', reason: 'labels is not an object' };
  }
}

function toMember(name: string, cell: string): string {
  // The receiver takes an epoch time only as a number.
  const isJson = name === 'labels' || (name === 'timestamp' && /^\d{1,19}$/.test(cell));
  // An export puts an apostrophe before text that a spreadsheet would run as a formula.
  const text = /^'[=+\-@\t\r\n＝＋－＠]/.test(cell) ? cell.slice(1) : cell;
  return `${JSON.stringify(name)}:${isJson ? cell : JSON.stringify(text)}`;
}

/** Cells of one record, whose last quote may be missing. */
function toCells(record: string): string[] {
  const cells: string[] = [];
  for (let at = 0; at <= record.length; ) {
    const isQuoted = record[at] === '"';
    const comma = record.indexOf(',', isQuoted ? endOfQuotes(record, at) : at);
    const end = comma < 0 ? record.length : comma;
    const cell = record.slice(at, end);
    cells.push(isQuoted ? cell.slice(1, -1).replaceAll('""', '"') : cell);
    at = end + 1;
  }
  return cells;
}

/** @param at the opening quote. @returns the index after the closing one. */
function endOfQuotes(record: string, at: number): number {
  for (let from = at + 1; ; from += 1) {
    from = record.indexOf('"', from) + 1;
    if (from === 0) return record.length;
    if (record[from] !== '"') return from;
  }
}
