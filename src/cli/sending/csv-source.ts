/**
 * CSV (RFC 4180) to events: the first record names the columns, a record may span lines. Columns
 * are named as in an export of Weir, or as the fields of a JSON event; any other is a label.
 */
import { fieldEntries, logFields } from '../../model/log-fields.ts';
import type { OutgoingEvent } from './batcher.ts';
import { type EventDefaults, type LineReading, readObject } from './event-line.ts';
import { countReading, tooLong, toText } from './line-source.ts';
import { type Line, LineSplitter } from './line-splitter.ts';
import type { EventSource } from './pump.ts';
import type { Tally } from './tally.ts';

export interface CsvSourceParts {
  readonly defaults: EventDefaults;
  readonly tally: Tally;
  /** Records that end within so many bytes were sent before. */
  readonly settledOffset: number;
}

/** A record may be as long as a line elsewhere. */
const maxRecordLength = 16 * 1024 * 1024;

/** Columns of an export under the names that events have; those without a name fall away. */
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

export function createCsvSource({ defaults, tally, settledOffset }: CsvSourceParts): EventSource {
  const splitter = new LineSplitter();
  let columns: readonly (string | undefined)[] | undefined;
  /** The lines of a record whose quotes are still open. */
  let open: string[] = [];
  let openLength = 0;
  let firstLine = 0;

  function* toEvents(lines: readonly Line[]): Iterable<OutgoingEvent> {
    for (const line of lines) {
      if (open.length === 0) firstLine = line.number;
      const text = line.bytes === undefined ? undefined : toText(line.bytes, tally);
      openLength += text?.length ?? 0;
      const isEndless = text === undefined || openLength > maxRecordLength;
      if (!isEndless) {
        open.push(text);
        // The first line and the last have an odd number of quotes, those between an even one.
        if (hasOddQuotes(text) === (open.length === 1)) continue;
      }
      const record = open.join('\n');
      open = [];
      openLength = 0;
      const event = isEndless ? reject(line) : toEvent(record, line);
      if (event !== undefined) yield event;
    }
  }

  function toEvent(record: string, line: Line): OutgoingEvent | undefined {
    const cells = toCells(record.endsWith('\r') ? record.slice(0, -1) : record);
    if (columns === undefined) {
      columns = cells.map((name) =>
        Object.hasOwn(exportedColumns, name) ? exportedColumns[name] : name,
      );
      return undefined;
    }
    if (line.endOffset <= settledOffset) return undefined;
    const place = { line: firstLine, endOffset: line.endOffset };
    return countReading(readCells(columns, cells, defaults), place, tally);
  }

  function reject(line: Line): undefined {
    countReading(tooLong, { line: firstLine, endOffset: line.endOffset }, tally);
    return undefined;
  }

  return {
    push: (chunk) => toEvents(splitter.push(chunk)),
    *end() {
      yield* toEvents(splitter.end());
      if (open.length === 0) return;
      countReading(unclosed, { line: firstLine, endOffset: 0 }, tally);
    },
  };
}

const unclosed: LineReading = { kind: 'fault', reason: 'a quote has no end' };

/** Doubled quotes within a cell make no difference. */
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
  const members = columns.flatMap((name, index): [string, string][] => {
    const cell = cells[index] ?? '';
    return name === undefined || (cell === '' && name !== 'message') ? [] : [[name, cell]];
  });
  const text = `{${members.map(([name, cell]) => toMember(name, cell)).join(',')}}`;
  try {
    return readObject(JSON.parse(text) as Record<string, unknown>, text, defaults);
  } catch {
    return { kind: 'fault', reason: 'labels is not an object' };
  }
}

/** Numbers of seconds, ms, µs or ns are times only where they are no text. */
function toMember(name: string, cell: string): string {
  const isJson = name === 'labels' || (name === 'timestamp' && /^\d{1,19}$/.test(cell));
  return `${JSON.stringify(name)}:${isJson ? cell : JSON.stringify(withoutMark(cell))}`;
}

/** An export puts an apostrophe before what a spreadsheet would run as a formula. */
function withoutMark(cell: string): string {
  return /^'[=+\-@\t\r\n＝＋－＠]/.test(cell) ? cell.slice(1) : cell;
}

function toCells(record: string): string[] {
  const cells: string[] = [];
  for (let at = 0; at <= record.length; ) {
    const isQuoted = record[at] === '"';
    const end = endOfCell(record, at, isQuoted);
    const cell = record.slice(at, end);
    cells.push(isQuoted ? cell.slice(1, -1).replaceAll('""', '"') : cell);
    at = end + 1;
  }
  return cells;
}

function endOfCell(record: string, at: number, isQuoted: boolean): number {
  let from = at;
  if (isQuoted) {
    from = at + 1;
    for (;;) {
      const quote = record.indexOf('"', from);
      if (quote < 0) return record.length;
      from = quote + 1;
      if (record[from] !== '"') break;
      from += 1;
    }
  }
  const comma = record.indexOf(',', from);
  return comma < 0 ? record.length : comma;
}
