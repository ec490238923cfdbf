/** `weir trace <trace-id>`: the logs of a trace, oldest first, below a bar per service. */
import type { Command } from 'commander';
import type { LogRecord } from '../../model/plan.ts';
import { toSeverityNumber } from '../../model/severity.ts';
import { integerWithin } from '../arguments.ts';
import { openSession } from '../session.ts';
import { escapeControls, type Terminal } from '../terminal.ts';
import { type ChartOptions, toBar, toChartOptions } from './bars.ts';
import { pagesOf } from './pages.ts';
import { addPrintOptions, createPrintLogs, type PrintOptions } from './print-logs.ts';
import { addRange, type FilterOptions, toFilterQuery } from './query.ts';

interface TraceOptions extends FilterOptions, PrintOptions {
  readonly limit: number;
  readonly ascii?: true;
}

const examples = `
Examples:
  weir trace 0af7651916cd43dd8448eb211c80319c
  weir trace 0af7651916cd43dd8448eb211c80319c --since 1h --json | jq -r .message`;

export function define(command: Command, terminal: Terminal): void {
  addPrintOptions(addRange(command.argument('<trace-id>')))
    .option(
      '-n, --limit <n>',
      'maximum number of logs, counted from the newest',
      integerWithin(1),
      5_000,
    )
    .option('--ascii', 'draw bars with # only')
    .addHelpText('after', examples)
    .action(async (traceId: string, options: TraceOptions) => {
      const session = openSession(command, terminal);
      const { limit } = options;
      const filter = await toFilterQuery([], options, session.api);
      filter.set('traceId', traceId);
      const logs: LogRecord[] = [];
      for await (const page of pagesOf(session.api, filter, { limit })) logs.push(...page);
      logs.reverse();
      if (session.output.format === 'text' && terminal.isOutTty && logs.length > 0) {
        const chart = toChartOptions(terminal, options);
        await session.output.write(`${traceText(logs, chart)}\n`);
      }
      await createPrintLogs(session, options)(logs);
      const note = noteOf(logs.length, limit);
      if (note !== undefined && terminal.isErrorTty) {
        terminal.writeError(`${terminal.styleError('dim', note)}\n`);
      }
    });
}

function noteOf(count: number, limit: number): string | undefined {
  if (count === 0) return 'no log has this trace id';
  return count === limit
    ? `these are the newest ${limit} logs: --limit sets the number`
    : undefined;
}

type TracedLog = Pick<LogRecord, 'serviceName' | 'spanId' | 'timestampNanos' | 'severityNumber'>;

const narrowestBar = 10;
const widestName = 24;
const errorNumber = toSeverityNumber('ERROR');

/** A line for each service in each span, in order of the first log. @param logs oldest first */
export function traceText(logs: readonly TracedLog[], { columns, style, bars }: ChartOptions) {
  const startMs = toMs(logs[0]!);
  const lengthMs = Math.max(toMs(logs.at(-1)!) - startMs, 0.001);
  const groups = Map.groupBy(logs, ({ spanId, serviceName }) => `${spanId} ${serviceName}`);
  const rows = [...groups.values()].map((own) => {
    const [fromMs, untilMs] = [own[0]!, own.at(-1)!].map((log) => toMs(log) - startMs);
    const errors = own.filter(({ severityNumber }) => severityNumber >= errorNumber);
    const count = own.length === 1 ? '1 log' : `${own.length} logs`;
    return {
      name: escapeControls(own[0]!.serviceName || '(no service)').slice(0, widestName),
      fromMs: fromMs!,
      spanMs: untilMs! - fromMs!,
      hasErrors: errors.length > 0,
      end: `${durationText(untilMs! - fromMs!)}, ${count}${errorsText(errors.length)}`,
    };
  });
  const nameWidth = Math.max(...rows.map(({ name }) => name.length));
  const endWidth = Math.max(...rows.map(({ end }) => end.length));
  const width = Math.max(narrowestBar, columns - nameWidth - endWidth - 5);
  const lines = rows.map(({ name, fromMs, spanMs, hasErrors, end }) => {
    const at = Math.min(width - 1, Math.round((fromMs / lengthMs) * width));
    const share = Math.max(spanMs / lengthMs, 0.5 / width);
    const bar = toBar(Math.min(share, 1 - at / width), width, bars);
    const drawn = style(hasErrors ? 'red' : 'cyan', bar);
    const room = ' '.repeat(Math.max(0, width - at - bar.length));
    return `${name.padEnd(nameWidth)}  ${' '.repeat(at)}${drawn}${room}  ${end}\n`;
  });
  return lines.join('');
}

function errorsText(count: number): string {
  if (count === 0) return '';
  return count === 1 ? ', 1 error' : `, ${count} errors`;
}

function durationText(ms: number): string {
  if (ms < 1) return `${Math.round(ms * 1000)} µs`;
  return ms < 1000 ? `${Number(ms.toPrecision(3))} ms` : `${Number((ms / 1000).toPrecision(3))} s`;
}

/** Accurate to a microsecond. */
function toMs({ timestampNanos }: TracedLog): number {
  return Number(timestampNanos) / 1e6;
}
