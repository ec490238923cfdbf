/** The output of `weir logs` and `weir tail`: text, or one JSON object per line. */
import { type Command, Option } from 'commander';
import { splitNames } from '../../model/log-fields.ts';
import type { LogRecord } from '../../model/plan.ts';
import type { Session } from '../session.ts';
import { CommandError, escapeControls, exitCodes } from '../terminal.ts';
import { createLogText, fieldNames, findField, type ReadField } from './log-text.ts';
import { utcOption, zoneOf } from './query.ts';

export interface PrintOptions {
  readonly fields?: readonly string[];
  readonly wide?: true;
  readonly full?: true;
  readonly utc?: true;
}

/** Resolves once the output has room for more. @throws the reason of the signal */
export type PrintLogs = (logs: readonly LogRecord[]) => Promise<void>;

export function addPrintOptions(command: Command): Command {
  return command
    .optionsGroup('Output:')
    .addOption(
      new Option('--fields <a,b,…>', `columns to show: ${fieldNames.join(', ')}`).argParser(
        splitNames,
      ),
    )
    .option('--wide', 'show labels too')
    .option('--full', 'do not truncate long messages (default in a pipe)')
    .addOption(utcOption())
    .optionsGroup('Options:');
}

/** @throws CommandError for an unknown field */
export function createPrintLogs({ output, terminal }: Session, options: PrintOptions): PrintLogs {
  if (output.format === 'json') {
    const toLine = (log: LogRecord) => `${escapeControls(JSON.stringify(log))}\n`;
    return (logs) => output.write(logs.map(toLine).join(''));
  }
  const text = createLogText({
    style: terminal.styleOut,
    zone: zoneOf(options),
    fields: options.fields?.map(toField),
    labels: options.wide ? 'shown' : 'hidden',
    cutAtColumns: terminal.isOutTty && !options.full ? terminal.columns : undefined,
    layout: terminal.isOutTty ? 'aligned' : 'tabs',
  });
  return (logs) => output.write(text(logs));
}

function toField(name: string): ReadField {
  const field = findField(name);
  if (field !== undefined) return field;
  const known = fieldNames.join(', ');
  const message = `cannot show the field ${JSON.stringify(name)}: there are ${known}`;
  throw new CommandError(message, exitCodes.usage);
}
