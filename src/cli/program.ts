/** The commands of `weir`, one file each, and what their failures look like. */
import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { addAccountCommands } from './account.ts';
import { addBackupCommand } from './backup.ts';
import { addCompletionCommand } from './completion.ts';
import { addDirectoryCommands } from './directory.ts';
import { addDoctorCommand } from './doctor.ts';
import { addExportCommand } from './export.ts';
import { addFacetsCommand } from './facets.ts';
import { addHistogramCommand } from './histogram.ts';
import { addImportCommand } from './import.ts';
import { addLogCommand } from './log.ts';
import { addLogsCommand } from './logs.ts';
import { addOpenCommand } from './open.ts';
import { addQuarantineCommands } from './quarantine.ts';
import { addReceiverCommands } from './receiver.ts';
import { addRestoreCommand } from './restore.ts';
import { addSendCommand } from './send.ts';
import { addSharedOptions, openSession } from './session.ts';
import { addStreamCommands } from './stream.ts';
import { addTailCommand } from './tail.ts';
import { addTokenCommands } from './token.ts';
import { addTokenRecover } from './token-recover.ts';
import { CommandError, escapeControls, exitCodes, type Terminal } from './terminal.ts';
import { addViewCommands } from './view.ts';
import { messageOf } from '../std/error-text.ts';

const { ok, failed, usage, interrupted } = exitCodes;
const footer = `
Connection: flags, else the environment, else quickstart.json in the data directory.
Exit codes: ${ok} done, ${failed} failed, ${usage} wrong usage, ${interrupted} interrupted.`;

const serveExamples = `
Examples:
  weir serve
  weir serve --data /var/lib/weir --ingest-port 443
  weir serve --help`;

/**
 * Runs one command.
 * @param argv without the program.
 * @returns the exit code.
 */
export async function run(argv: readonly string[], terminal: Terminal): Promise<number> {
  try {
    if (argv[0] === 'serve') {
      const { serve } = await import('./serve.ts');
      await serve(argv.slice(1));
    } else {
      await createProgram(terminal).parseAsync(argv, { from: 'user' });
    }
    return exitCodes.ok;
  } catch (error) {
    return report(error, terminal);
  }
}

/** All commands, one file each; a new one is a line here. */
export function createProgram(terminal: Terminal): Command {
  const program = addSharedOptions(new Command('weir'))
    .description('Takes in logs and metrics, keeps them safe, and reads them back as a stream.')
    .version(readVersion())
    .exitOverride()
    .configureOutput({ writeOut: terminal.writeOut, writeErr: terminal.writeError })
    .configureHelp({ showGlobalOptions: true })
    .addHelpText('afterAll', footer);
  const open = (command: Command) => openSession(command, terminal);
  program.commandsGroup('Read:');
  addLogsCommand(program, open);
  addTailCommand(program, open);
  addLogCommand(program, open);
  addHistogramCommand(program, open);
  addFacetsCommand(program, open);
  addExportCommand(program, open);
  program.commandsGroup('Send:');
  addSendCommand(program, terminal);
  addImportCommand(program, terminal);
  program.commandsGroup('Manage:');
  addAccountCommands(program, open);
  addStreamCommands(program, open);
  addReceiverCommands(program, open);
  addTokenRecover(addTokenCommands(program, open), terminal);
  addViewCommands(program, open);
  program.commandsGroup('Run:');
  // Only for the help: `run` hands its arguments to the service, which has flags of its own.
  program
    .command('serve')
    .description('run the service (weir serve --help)')
    .addHelpText('after', serveExamples);
  addDoctorCommand(program, terminal);
  addBackupCommand(program, terminal);
  addRestoreCommand(program, terminal);
  addDirectoryCommands(program, terminal);
  addQuarantineCommands(program, terminal);
  addOpenCommand(program, terminal);
  addCompletionCommand(program, terminal);
  program.helpCommand('help [command]', 'show the help of a command');
  return program;
}

/** Both `src` and `dist` lie beside package.json. */
function readVersion(): string {
  const file = new URL('../../package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}

function report(error: unknown, { writeError, signal, outClosed }: Terminal): number {
  if (error instanceof CommanderError) {
    // Commander has written its own words already; --help and --version end with 0.
    return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  }
  if (!(error instanceof CommandError)) {
    if (signal.aborted) return exitCodes.interrupted;
    if (outClosed.aborted) return exitCodes.ok;
  }
  const message = messageOf(error);
  const lines = message.split('\n').map(escapeControls);
  writeError(`weir: ${lines.join('\n')}\n`);
  return error instanceof CommandError ? error.exitCode : exitCodes.failed;
}
