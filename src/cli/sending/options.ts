/** Options of `weir send`, `weir import` and `weir ship`. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseDuration } from '../../promql/parser/numbers.ts';
import { CommandError, exitCodes } from '../terminal.ts';
import { type EventDefaults, isFieldName, type LineFormat } from './event-line.ts';

export interface EventFlags {
  readonly severity?: string;
  readonly service?: string;
  readonly namespace?: string;
  readonly host?: string;
  readonly label?: ReadonlyMap<string, string>;
  readonly format: LineFormat;
}

export function addSendingOptions(command: Command, formats: readonly string[]): Command {
  return command
    .option('--severity <word>', 'severity of events without one')
    .option('--service <name>', 'service_name of events without one')
    .option('--namespace <name>', 'service_namespace of events without one')
    .option('--host <name>', 'host of events without one; this machine by default')
    .option('--label <key:value>', 'label of events without it; repeat it for more', collectLabel)
    .addOption(
      new Option(
        '--format <format>',
        'format of a line; auto: a JSON object with a message is an event, any other line is text',
      )
        .choices(formats)
        .default('auto'),
    )
    .option('--receiver-url <url>', 'receiver of kind http_json [WEIR_RECEIVER_URL]')
    .option('--ingest-token <secret>', "the receiver's token [WEIR_INGEST_TOKEN]")
    .option('--quiet', 'print only errors');
}

/** Not of `weir ship`, which never gives up. */
export function addGiveUpOption(command: Command): Command {
  return command.addOption(
    new Option('--give-up-after <time>', 'stop trying to deliver: 30s, 5m, 1h; 0 = never')
      .default(300, '5m')
      .argParser(toSeconds),
  );
}

export function toDefaults(flags: Omit<EventFlags, 'format'>, host: string): EventDefaults {
  return {
    severity: flags.severity,
    serviceName: flags.service,
    serviceNamespace: flags.namespace,
    host: flags.host ?? host,
    labels: flags.label ?? new Map(),
  };
}

function collectLabel(
  text: string,
  earlier: ReadonlyMap<string, string> = new Map(),
): ReadonlyMap<string, string> {
  const colon = text.indexOf(':');
  if (colon < 1) throw new InvalidArgumentError('Give key:value.');
  const key = text.slice(0, colon);
  if (isFieldName(key)) {
    throw new CommandError(
      `cannot use the label ${key}: an event has a field of that name`,
      exitCodes.usage,
    );
  }
  return new Map([...earlier, [key, text.slice(colon + 1)]]);
}

function toSeconds(text: string): number {
  const seconds = /^\d{1,6}$/.test(text) ? Number(text) : parseDuration(text);
  if (seconds === undefined) throw new InvalidArgumentError('Give a time such as 30s, 5m or 1h.');
  return seconds;
}
