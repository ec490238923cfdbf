/** `weir log <log-id>`: one log with all its fields, or the logs around it. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { LogRecord } from '../../model/plan.ts';
import { collect, integerWithin } from '../arguments.ts';
import { openSession } from '../session.ts';
import { escapeControls, type Style, type Terminal } from '../terminal.ts';
import { showInstant, type Zone } from './instant.ts';
import { createLogText, messageText, severityStyle } from './log-text.ts';
import { utcOption, zoneOf } from './query.ts';

interface LogOptions {
  readonly context?: number;
  readonly same?: readonly string[];
  readonly utc?: true;
}

/** Both sides newest first. */
interface Context {
  readonly after: readonly LogRecord[];
  readonly log: LogRecord;
  readonly before: readonly LogRecord[];
}

const examples = `
Examples:
  weir log 01a1fb92-071b-7000-8038-a5f7bd5f3869
  weir log 01a1fb92-071b-7000-8038-a5f7bd5f3869 --context 20 --same service`;

export function define(command: Command, terminal: Terminal): void {
  command
    .argument('<log-id>')
    .option(
      '--context <n>',
      'this many logs of its stream before and after it',
      integerWithin(0, 200),
    )
    .addOption(
      new Option('--same <field>', 'with --context: only of the same host or service')
        .choices(['host', 'service'])
        .argParser(toSame),
    )
    .addOption(utcOption())
    .addHelpText('after', examples)
    .action(async (logId: string, options: LogOptions) => {
      const { context, same = [] } = options;
      const { api, output } = openSession(command, terminal);
      const zone = zoneOf(options);
      if (context === undefined) {
        const log = await api.get<LogRecord>(['logs', logId]);
        return output.show(log, () => logDetails(log, terminal.styleOut, zone));
      }
      const around = String(context);
      const query = new URLSearchParams({ before: around, after: around });
      for (const field of same) query.append('same', field);
      const found = await api.get<Context>(['logs', logId, 'context'], query);
      return output.show(found, () => contextText(found, terminal, zone));
    });
}

/** `argParser` replaces the check of `choices`. */
function toSame(text: string, earlier: readonly string[] | undefined): string[] {
  if (text === 'host' || text === 'service') return collect(text, earlier);
  throw new InvalidArgumentError('Allowed choices are host, service.');
}

function contextText(context: Context, terminal: Terminal, zone: Zone): string {
  const logs = [...context.after, context.log, ...context.before].reverse();
  const text = createLogText({
    style: terminal.styleOut,
    zone,
    fields: undefined,
    labels: 'hidden',
    cutAtColumns: terminal.isOutTty ? terminal.columns : undefined,
    layout: 'aligned',
  });
  const mark = terminal.styleOut(['bold', 'yellow'], '>');
  // The first pass measures the columns.
  text(logs);
  return logs.map((log) => `${log === context.log ? mark : ' '} ${text([log])}`).join('');
}

/** A line per field that is not empty, then the message. */
function logDetails(log: LogRecord, style: Style, zone: Zone): string {
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
