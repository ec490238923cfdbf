/** How the reading commands print logs: as lines for people, or as JSON, one log a line. */
import { type Command, Option } from 'commander';
import type { LogRecord } from '../../model/plan.ts';
import type { Session } from '../session.ts';
import { CommandError, escapeControls, exitCodes } from '../terminal.ts';
import { utcOption, zoneOf } from './log-filter.ts';
import { fieldNames, findField, type ReadField } from './log-fields.ts';
import { createLogText } from './log-text.ts';

export interface PrintOptions {
  readonly fields?: readonly string[];
  readonly wide?: true;
  readonly full?: true;
  readonly utc?: true;
}

/** Resolves once there is room for more. @throws the reason of the signal, to end the command */
export type PrintLogs = (logs: readonly LogRecord[]) => Promise<void>;

export function addPrintOptions(command: Command): Command {
  return command
    .optionsGroup('Output:')
    .addOption(
      new Option('--fields <a,b,…>', `columns to show: ${fieldNames.join(', ')}`).argParser(
        (text: string) => text.split(',').map((name) => name.trim()),
      ),
    )
    .option('--wide', 'show labels too')
    .option('--full', 'show long messages whole, which a pipe always gets')
    .addOption(utcOption())
    .optionsGroup('Options:');
}

/** @throws CommandError for a field that there is not */
export function createPrintLogs(session: Session, options: PrintOptions): PrintLogs {
  const { output, format, terminal } = session;
  if (format === 'json') {
    return async (logs) => {
      await output.write(logs.map((log) => `${escapeControls(JSON.stringify(log))}\n`).join(''));
    };
  }
  const fields = options.fields?.map(toField);
  const text = createLogText({
    style: terminal.styleOut,
    zone: zoneOf(options),
    fields,
    labels: options.wide ? 'shown' : 'hidden',
    cutAtColumns: terminal.isOutTty && !options.full ? terminal.columns : undefined,
    layout: terminal.isOutTty || fields === undefined ? 'aligned' : 'tabs',
  });
  return async (logs) => output.write(text.format(logs));
}

function toField(name: string): ReadField {
  const field = findField(name);
  if (field !== undefined) return field;
  const words = `cannot show the field ${JSON.stringify(name)}: there are ${fieldNames.join(', ')}`;
  throw new CommandError(words, exitCodes.usage);
}
