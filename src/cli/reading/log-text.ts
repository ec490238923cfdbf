/**
 * Logs as lines for people: time, severity, service, message. Nothing in a log moves a cursor or
 * passes for another line. Pure but for the widths that it has seen.
 */
import type { InspectColor } from 'node:util';
import type { LogRecord } from '../../model/plan.ts';
import { escapeControls, type Style } from '../terminal.ts';
import { showInstant, type Zone } from './instant.ts';
import type { ReadField } from './log-fields.ts';

export interface LogTextOptions {
  readonly style: Style;
  readonly zone: Zone;
  /** Columns in place of the usual ones; undefined = those. */
  readonly fields: readonly ReadField[] | undefined;
  readonly labels: 'hidden' | 'shown';
  /** Messages are cut to a few lines of so many characters; undefined = never. */
  readonly cutAtColumns: number | undefined;
  /** `tabs` is for programs: one log a line, one tab between two fields. */
  readonly layout: 'aligned' | 'tabs';
}

export interface LogText {
  /** In the order given, each with its line feed. */
  format(logs: readonly LogRecord[]): string;
}

const indent = '    ';
const mostLines = 6;
const usualSeverity = 'ERROR';
const widest = { severity: 9, service: 24, field: 40 };

export function createLogText(options: LogTextOptions): LogText {
  // Columns grow with what was seen and never shrink, so that a tail stays calm.
  const widths: number[] = options.fields === undefined ? [usualSeverity.length] : [];
  const pad = (text: string, column: number, most: number): string =>
    options.layout === 'tabs' ? text : text.padEnd(Math.min(widths[column] ?? 0, most));
  const grow = (rows: readonly (readonly string[])[]): void => {
    for (const row of rows) {
      for (const [column, text] of row.entries()) {
        widths[column] = Math.max(widths[column] ?? 0, text.length);
      }
    }
  };

  const usual = (logs: readonly LogRecord[]): string[] => {
    const rows = logs.map((log) => [toCell(log.severity) || '-', toCell(log.serviceName) || '-']);
    grow(rows);
    return logs.map((log, i) => {
      const [severity = '', service = ''] = rows[i] ?? [];
      const head = [
        options.style('dim', showInstant(log.timestamp, options.zone)),
        options.style(severityStyle(log.severityNumber), pad(severity, 0, widest.severity)),
        options.style('cyan', pad(service, 1, widest.service)),
      ];
      const labels = options.labels === 'shown' ? labelsText(log) : '';
      const tail = labels === '' ? [] : [options.style('dim', labels)];
      return [...head, messageText(log.message, options), ...tail].join(' ');
    });
  };

  const chosen = (logs: readonly LogRecord[], fields: readonly ReadField[]): string[] => {
    const rows = logs.map((log) => fields.map((read) => toCell(read(log, options.zone)) || '-'));
    if (options.layout === 'tabs') return rows.map((row) => row.join('\t'));
    grow(rows);
    return rows.map((row) =>
      row
        .map((cell, column) => (column === row.length - 1 ? cell : pad(cell, column, widest.field)))
        .join('  '),
    );
  };

  return {
    format(logs) {
      const lines = options.fields === undefined ? usual(logs) : chosen(logs, options.fields);
      return lines.map((line) => `${line}\n`).join('');
    },
  };
}

/** Source of the ranges: OpenTelemetry's severity numbers. */
export function severityStyle(severityNumber: number): InspectColor | readonly InspectColor[] {
  if (severityNumber >= 21) return ['bold', 'magenta'];
  if (severityNumber >= 17) return ['bold', 'red'];
  if (severityNumber >= 13) return 'yellow';
  if (severityNumber >= 9) return 'green';
  return 'dim';
}

/** Lines of the message, escaped; all but the first are indented. */
export function messageText(
  message: string,
  { cutAtColumns, style }: Pick<LogTextOptions, 'cutAtColumns' | 'style'>,
): string {
  const { text, leftOut } =
    cutAtColumns === undefined ? whole(message) : cut(message, cutAtColumns);
  const lines = text.split(/\r?\n/).map(escapeLine);
  // An end of the message in a line feed is not a line of its own.
  if (lines.length > 1 && lines.at(-1) === '') lines.pop();
  const shown = lines.join(`\n${indent}`);
  if (leftOut === 0) return shown;
  return `${shown}${style('dim', ` … ${leftOut} more characters, see --full`)}`;
}

function labelsText({ labels }: LogRecord): string {
  return Object.entries(labels)
    .map(([key, value]) => `${toCell(key)}=${toValue(value)}`)
    .join(' ');
}

function whole(text: string): { text: string; leftOut: number } {
  return { text, leftOut: 0 };
}

/** Cut before it is escaped: a message of a megabyte is not looked through for six lines of it. */
function cut(message: string, columns: number): { text: string; leftOut: number } {
  const most = columns * mostLines;
  let lines = 0;
  let end = 0;
  for (; lines < mostLines && end < message.length && end < most; lines += 1) {
    const feed = message.indexOf('\n', end);
    end = feed < 0 ? message.length : feed + 1;
  }
  end = Math.min(end, most);
  if (end >= message.length) return whole(message);
  // Not between the halves of one character.
  if (isHighSurrogate(message.charCodeAt(end - 1))) end -= 1;
  return { text: message.slice(0, end), leftOut: message.length - end };
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

/** A tab moves a cursor no farther than the text after it. */
function escapeLine(line: string): string {
  return line.split('\t').map(escapeControls).join('\t');
}

function toCell(text: string): string {
  return escapeControls(text);
}

/** Quoted where it would read as something else. */
function toValue(value: string): string {
  return /^[^\s"=]+$/.test(value) ? toCell(value) : escapeControls(JSON.stringify(value));
}
