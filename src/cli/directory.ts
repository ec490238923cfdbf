/**
 * `weir directory copy` takes the embedded directory over into one that nodes share, and `weir
 * directory accept` keeps values of it that changed on disk.
 */
import type { Command } from 'commander';
import { dataDirectory } from './connection.ts';
import { createOutput } from './session.ts';
import { CommandError, exitCodes, type Terminal } from './terminal.ts';

const acceptNotes = `
A start is refused where accounts, receivers, tokens or views are not as they were written: a disk
changed them, or a program other than Weir did. Restore the last backup. Where there is none, this
command keeps what the file holds now; look at it with weir token list and weir receiver list after
the next start.

Examples:
  weir directory accept
  weir directory accept --data /var/lib/weir`;

const copyNotes = `
Stop the service first. The database, or the schema that the URL names, must hold no directory yet.
Then start the service on the same data directory with the same URL (--directory-url): its tokens
work as before, those of quickstart.json included. The file directory.db is used no more and stays
as it is. The password may come from WEIR_DIRECTORY_PASSWORD.

Examples:
  weir directory copy --to postgres://weir@db/weir?sslmode=verify-full
  weir directory copy --data /var/lib/weir --to postgres://weir@db/weir`;

interface Flags {
  readonly data?: string;
  readonly json?: true;
  readonly to?: string;
}

export function addDirectoryCommands(program: Command, terminal: Terminal): void {
  const directory = program
    .command('directory')
    .description('the directory of accounts and tokens itself');
  directory
    .command('accept')
    .description('keep a directory of a stopped service that changed on disk as it is now')
    .addHelpText('after', acceptNotes)
    .action(async (_options: object, command: Command) => {
      const flags = command.optsWithGlobals<Flags>();
      const dataDir = dataDirectory(flags.data, terminal.environment);
      const { acceptDirectory } = await import('../maintenance/recover.ts');
      await acceptDirectory(dataDir);
      createOutput(terminal, flags.json ? 'json' : 'text').record({ accepted: true });
    });
  directory
    .command('copy')
    .description('copy the embedded directory of a stopped service into an empty PostgreSQL')
    .option('--to <url>', 'postgres://user@host/database [WEIR_DIRECTORY_URL]')
    .addHelpText('after', copyNotes)
    .action(async (_options: object, command: Command) => {
      const flags = command.optsWithGlobals<Flags>();
      const { environment } = terminal;
      const url = flags.to ?? environment['WEIR_DIRECTORY_URL'];
      if (!url) {
        throw new CommandError(
          'cannot tell where to: give --to, or WEIR_DIRECTORY_URL',
          exitCodes.usage,
        );
      }
      const password = environment['WEIR_DIRECTORY_PASSWORD'] ?? '';
      const dataDir = dataDirectory(flags.data, environment);
      // Not before it is asked for: a directory takes longer to load than all commands together.
      const { copyDirectory } = await import('../maintenance/copy-directory.ts');
      const counts = await copyDirectory({ dataDir }, { url, password });
      createOutput(terminal, flags.json ? 'json' : 'text').record(counts);
    });
}
