/** One log with all that it holds, a field a line and the message last. Pure. */
import type { LogRecord } from '../../model/plan.ts';
import { escapeControls, type Style } from '../terminal.ts';
import { showInstant, type Zone } from './instant.ts';
import { messageText, severityStyle } from './log-text.ts';

/** Fields that the sender left empty are left out. */
export function logDetails(log: LogRecord, style: Style, zone: Zone): string {
  const rows = toRows(log, zone).filter(([, value]) => value !== '');
  const width = Math.max(...rows.map(([name]) => name.length));
  const lines = rows.map(([name, value]) => {
    const shown = escapeControls(value);
    const text = name === 'severity' ? style(severityStyle(log.severityNumber), shown) : shown;
    return `${style('dim', name.padEnd(width))}  ${text}\n`;
  });
  const message = messageText(log.message, { style, cutAtColumns: undefined });
  return `${lines.join('')}\n    ${message}\n`;
}

function toRows(log: LogRecord, zone: Zone): (readonly [string, string])[] {
  const { kubernetes, scope } = log;
  const severity = log.severityNumber === 0 ? '' : ` (${log.severityNumber})`;
  return [
    ['time', showInstant(log.timestamp, zone)],
    ['nanoseconds', log.timestampNanos],
    ['observed', showInstant(log.observedTimestamp, zone)],
    ['received', showInstant(log.receivedAt, zone)],
    ['severity', log.severity && log.severity + severity],
    ['service', log.serviceName],
    ['namespace', log.serviceNamespace],
    ['host', log.host],
    ['event', log.eventName],
    ['scope', [scope.name, scope.version].filter((part) => part !== '').join(' ')],
    ['trace', log.traceId],
    ['span', log.spanId],
    ['trace flags', log.traceFlags === 0 ? '' : String(log.traceFlags)],
    ...Object.entries(kubernetes).map(([name, value]) => [`kubernetes ${name}`, value] as const),
    ...Object.entries(log.labels).map(
      ([key, value]) => [`label ${escapeControls(key)}`, value] as const,
    ),
    ['stream', log.streamId],
    ['receiver', log.receiverId],
    ['log id', log.logId],
  ];
}
