/** Logs as lines of text. Values are escaped: none can move the cursor or start a line. */
import type { InspectColor } from 'node:util';
import {
  fieldEntries,
  fieldValue,
  isLabelField,
  labelKeyOf,
  logFields,
} from '../../model/log-fields.ts';
import type { LogRecord } from '../../model/plan.ts';
import { labelForm, toGroupField } from '../../query/fields.ts';
import { escapeControls, type Style } from '../terminal.ts';
import { showInstant, type Zone } from './instant.ts';
import { toOptionName } from './query.ts';

export interface LogTextOptions {
  readonly style: Style;
  readonly zone: Zone;
  /** Chosen columns; undefined = time, severity, service and message. */
  readonly fields: readonly ReadField[] | undefined;
  readonly labels: 'hidden' | 'shown';
  /** Cuts messages to six lines of this width; undefined = never. */
  readonly cutAtColumns: number | undefined;
  /** `tabs` separates the chosen columns by tabs, for programs. */
  readonly layout: 'aligned' | 'tabs';
}

/** @returns the field as text; empty where the log has none. */
export type ReadField = (log: LogRecord, zone: Zone) => string;

interface Column {
  /** Escaped. */
  readonly read: (log: LogRecord) => string;
  readonly maxWidth: number;
  readonly format?: (log: LogRecord) => Parameters<Style>[0];
  /** Grows with the values shown and never shrinks, so that columns of a tail do not move. */
  width: number;
}

const indent = '    ';
const maxLines = 6;

/** The returned function formats logs in the given order, each with its line feed. */
export function createLogText(options: LogTextOptions): (logs: readonly LogRecord[]) => string {
  const { fields, layout, style } = options;
  const columns = fields === undefined ? usualColumns(options) : fieldColumns(fields, options.zone);
  const isTabbed = fields !== undefined && layout === 'tabs';
  const separator = isTabbed ? '\t' : fields === undefined ? ' ' : '  ';
  const last = columns.length - 1;
  return (logs) => {
    const rows = logs.map((log) => ({ log, cells: columns.map(({ read }) => read(log)) }));
    for (const { cells } of rows) {
      for (const [i, each] of columns.entries()) {
        each.width = Math.max(each.width, Math.min(cells[i]!.length, each.maxWidth));
      }
    }
    const toLine = ({ log, cells }: (typeof rows)[number]): string => {
      const shown = columns.map(({ width, format }, i) => {
        const text = isTabbed || i === last ? cells[i]! : cells[i]!.padEnd(width);
        return format === undefined ? text : style(format(log), text);
      });
      return `${shown.join(separator)}\n`;
    };
    return rows.map(toLine).join('');
  };
}

function usualColumns(options: LogTextOptions): Column[] {
  const withLabels = (log: LogRecord): string => {
    const labels = options.labels === 'shown' ? labelsText(log) : '';
    const message = messageText(log.message, options);
    return labels === '' ? message : `${message} ${options.style('dim', labels)}`;
  };
  return [
    column((log) => showInstant(log.timestamp, options.zone), { format: () => 'dim' }),
    column((log) => log.severity, {
      maxWidth: 9,
      width: 'ERROR'.length,
      format: (log) => severityStyle(log.severityNumber),
    }),
    column((log) => log.serviceName, { maxWidth: 24, format: () => 'cyan' }),
    { read: withLabels, maxWidth: 0, width: 0 },
  ];
}

function fieldColumns(fields: readonly ReadField[], zone: Zone): Column[] {
  return fields.map((read) => column((log) => read(log, zone)));
}

function column(read: (log: LogRecord) => string, rest: Partial<Column> = {}): Column {
  return { read: (log) => escapeControls(read(log)) || '-', maxWidth: 40, width: 0, ...rest };
}

const readers: Readonly<Record<string, ReadField>> = {
  time: (log, zone) => showInstant(log.timestamp, zone),
  timestamp: (log) => log.timestamp,
  timestampNanos: (log) => log.timestampNanos,
  observed: (log, zone) => showInstant(log.observedTimestamp, zone),
  received: (log, zone) => showInstant(log.receivedAt, zone),
  severityNumber: (log) => String(log.severityNumber),
  message: (log) => log.message,
  ...Object.fromEntries(
    fieldEntries.map(([, { flag, path }]): [string, ReadField] => [
      toOptionName(flag),
      (log) => fieldValue(log, path),
    ]),
  ),
  logId: (log) => log.logId,
};

export const fieldNames: readonly string[] = [...Object.keys(readers), labelForm];

/** @returns undefined for an unknown name. */
export function findField(name: string): ReadField | undefined {
  if (Object.hasOwn(readers, name)) return readers[name];
  const field = toGroupField(name);
  if (field === undefined) return undefined;
  if (!isLabelField(field)) return (log) => fieldValue(log, logFields[field].path);
  const key = labelKeyOf(field);
  return (log) => (Object.hasOwn(log.labels, key) ? (log.labels[key] ?? '') : '');
}

/** Source of the ranges: severity numbers of OpenTelemetry. */
export function severityStyle(severityNumber: number): InspectColor | readonly InspectColor[] {
  if (severityNumber >= 21) return ['bold', 'magenta'];
  if (severityNumber >= 17) return ['bold', 'red'];
  if (severityNumber >= 13) return 'yellow';
  if (severityNumber >= 9) return 'green';
  return 'dim';
}

/** Escaped lines of a message; all but the first are indented. */
export function messageText(
  message: string,
  { cutAtColumns, style }: Pick<LogTextOptions, 'cutAtColumns' | 'style'>,
): string {
  // Cut first, so that a message of a megabyte is not escaped for six lines of it.
  const shown = cutAtColumns === undefined ? message : cut(message, cutAtColumns);
  const lines = shown.split(/\r?\n/).map((line) => line.split('\t').map(escapeControls).join('\t'));
  if (lines.length > 1 && lines.at(-1) === '') lines.pop();
  const text = lines.join(`\n${indent}`);
  const hidden = message.length - shown.length;
  return hidden === 0 ? text : text + style('dim', ` … ${hidden} more characters, see --full`);
}

function cut(message: string, columns: number): string {
  const most = columns * maxLines;
  let end = 0;
  for (let line = 0; line < maxLines && end < message.length && end < most; line += 1) {
    const feed = message.indexOf('\n', end);
    end = feed < 0 ? message.length : feed + 1;
  }
  end = Math.min(end, most);
  const isInsidePair = end < message.length && /[\ud800-\udbff]/.test(message[end - 1] ?? '');
  return message.slice(0, isInsidePair ? end - 1 : end);
}

/** Values are quoted where they are ambiguous. */
function labelsText({ labels }: LogRecord): string {
  return Object.entries(labels)
    .map(([key, value]) => {
      const shown = /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);
      return `${escapeControls(key)}=${escapeControls(shown)}`;
    })
    .join(' ');
}
