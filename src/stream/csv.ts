/**
 * Logs as CSV (RFC 4180, https://www.rfc-editor.org/rfc/rfc4180), safe to open in a spreadsheet.
 * Pure.
 */
import type { LogRecord } from '../model/plan.ts';

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

/** The names of the columns, with the end of their line. */
export const csvHeader = toLine(columns.map(([name]) => name));

/** One line of it, with its end; a cell may hold line breaks of its own. */
export function toCsvLine(log: LogRecord): string {
  return toLine(columns.map(([, of]) => of(log)));
}

function toLine(cells: readonly string[]): string {
  return `${cells.map(toCell).join(',')}\r\n`;
}

/**
 * Spreadsheets run a cell as a formula when it begins like one, full-width signs included, quoted
 * or not (https://owasp.org/www-community/attacks/CSV_Injection): an apostrophe keeps it text.
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
