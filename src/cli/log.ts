/** `weir log <log-id>`: one log with all that it holds, or the logs around it. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { LogRecord } from '../model/plan.ts';
import { collect, toInteger } from './arguments.ts';
import { utcOption, zoneOf } from './reading/log-filter.ts';
import { logDetails } from './reading/log-details.ts';
import { createLogText, type LogTextOptions } from './reading/log-text.ts';
import type { OpenSession, Session } from './session.ts';

interface LogOptions {
  readonly context?: number;
  readonly same?: readonly string[];
  readonly utc?: true;
}

/** Newest first, both sides. */
interface Context {
  readonly after: readonly LogRecord[];
  readonly log: LogRecord;
  readonly before: readonly LogRecord[];
}

const mostAround = 200;

const examples = `
Examples:
  weir log 01a1fb92-071b-7000-8038-a5f7bd5f3869
  weir log 01a1fb92-071b-7000-8038-a5f7bd5f3869 --context 20 --same service`;

export function addLogCommand(program: Command, open: OpenSession): void {
  program
    .command('log')
    .description('show one log with all its fields, or the logs around it')
    .argument('<log-id>')
    .option('--context <n>', 'so many logs of its stream before and after it', toAround)
    .addOption(
      new Option('--same <field>', 'with --context: only of the same host or service')
        .choices(['host', 'service'])
        .argParser(toSame),
    )
    .addOption(utcOption())
    .addHelpText('after', examples)
    .action(async (logId: string, options: LogOptions, self: Command) => {
      const session = open(self);
      if (options.context === undefined) await printLog(session, logId, options);
      else await printContext(session, logId, { ...options, around: options.context });
    });
}

async function printLog(session: Session, logId: string, options: LogOptions): Promise<void> {
  const { reads, output, format, terminal } = session;
  const log = await reads.get<LogRecord>(['logs', logId], new URLSearchParams());
  if (format === 'json') output.record(log);
  else await output.write(logDetails(log, terminal.styleOut, zoneOf(options)));
}

async function printContext(
  { reads, output, format, terminal }: Session,
  logId: string,
  { around, same = [], ...options }: LogOptions & { around: number },
): Promise<void> {
  const query = new URLSearchParams({ before: String(around), after: String(around) });
  for (const field of same) query.append('same', field);
  const context = await reads.get<Context>(['logs', logId, 'context'], query);
  if (format === 'json') {
    output.record(context);
    return;
  }
  const { after, log, before } = context;
  const logs = [...after, log, ...before].reverse();
  const settings: LogTextOptions = {
    style: terminal.styleOut,
    zone: zoneOf(options),
    fields: undefined,
    labels: 'hidden',
    cutAtColumns: terminal.isOutTty ? terminal.columns : undefined,
    layout: 'aligned',
  };
  const text = createLogText(settings);
  const mark = terminal.styleOut(['bold', 'yellow'], '>');
  // One by one for their marks; all at once before, for the width of their columns.
  text.format(logs);
  const lines = logs.map((one) => `${one === log ? mark : ' '} ${text.format([one])}`);
  await output.write(lines.join(''));
}

function toAround(text: string): number {
  const around = toInteger(text);
  if (around <= mostAround) return around;
  throw new InvalidArgumentError(`Give at most ${mostAround}.`);
}

function toSame(text: string, earlier: readonly string[] | undefined): string[] {
  if (text === 'host' || text === 'service') return collect(text, earlier);
  throw new InvalidArgumentError('Allowed choices are host, service.');
}
