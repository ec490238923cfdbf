/**
 * Export formats: logs as JSON lines, or as CSV (RFC 4180,
 * https://www.rfc-editor.org/rfc/rfc4180) that is safe to open in a spreadsheet. Pure.
 */
import type { LogRecord } from '../model/plan.ts';
import type { ExportFormat } from './requests.ts';

interface ExportWriter {
  readonly mediaType: string;
  readonly extension: string;
  /** Written before the first log. */
  readonly header: string;
  /** Includes the line end. */
  readonly toLine: (log: LogRecord) => string;
}

const columns: readonly (readonly [name: string, of: (log: LogRecord) => string])[] = [
  ['timestamp', ({ timestampNanos }) => isoNanos(timestampNanos)],
  ['severity', ({ severity }) => severity],
  ['serviceName', ({ serviceName }) => serviceName],
  ['serviceNamespace', ({ serviceNamespace }) => serviceNamespace],
  ['host', ({ host }) => host],
  ['message', ({ message }) => message],
  ['labels', ({ labels }) => JSON.stringify(labels)],
  ['traceId', ({ traceId }) => traceId],
  ['spanId', ({ spanId }) => spanId],
  ['k8sCluster', ({ kubernetes }) => kubernetes.cluster],
  ['k8sNamespace', ({ kubernetes }) => kubernetes.namespace],
  ['k8sNode', ({ kubernetes }) => kubernetes.node],
  ['k8sPod', ({ kubernetes }) => kubernetes.pod],
  ['k8sContainer', ({ kubernetes }) => kubernetes.container],
  ['k8sDeployment', ({ kubernetes }) => kubernetes.deployment],
  ['eventName', ({ eventName }) => eventName],
  ['scopeName', ({ scope }) => scope.name],
  ['streamId', ({ streamId }) => streamId],
  ['receiverId', ({ receiverId }) => receiverId],
  ['logId', ({ logId }) => logId],
  ['receivedAt', ({ receivedAt }) => receivedAt],
];

export const exportWriters: Readonly<Record<ExportFormat, ExportWriter>> = {
  ndjson: {
    mediaType: 'application/x-ndjson',
    extension: 'ndjson',
    header: '',
    toLine: (log) => `${JSON.stringify(log)}\n`,
  },
  csv: {
    mediaType: 'text/csv; charset=utf-8; header=present',
    extension: 'csv',
    header: toCsvLine(columns.map(([name]) => name)),
    toLine: (log) => toCsvLine(columns.map(([, of]) => of(log))),
  },
};

const chunkLength = 128 * 1024;

/** Whole lines in chunks of about 128 KiB. */
export function* toChunks(logs: readonly LogRecord[], format: ExportFormat): Generator<string> {
  const { toLine } = exportWriters[format];
  let chunk = '';
  for (const log of logs) {
    chunk += toLine(log);
    if (chunk.length < chunkLength) continue;
    yield chunk;
    chunk = '';
  }
  if (chunk !== '') yield chunk;
}

function toCsvLine(cells: readonly string[]): string {
  return `${cells.map(toCell).join(',')}\r\n`;
}

/**
 * A spreadsheet runs a cell that begins like a formula, full-width signs included, quoted or not
 * (https://owasp.org/www-community/attacks/CSV_Injection); an apostrophe keeps it text.
 */
function toCell(text: string): string {
  const safe = /^[=+\-@\t\r\n＝＋－＠]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** ISO 8601 UTC with nine digits of a second. */
function isoNanos(nanos: string): string {
  const digits = nanos.padStart(10, '0');
  const seconds = new Date(Number(digits.slice(0, -9)) * 1000).toISOString().slice(0, -5);
  return `${seconds}.${digits.slice(-9)}Z`;
}
