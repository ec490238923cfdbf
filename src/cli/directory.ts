/** `weir directory copy`: takes the embedded directory over into one that nodes share. */
import type { Command } from 'commander';
import { dataDirectory } from './connection.ts';
import { createOutput } from './session.ts';
import { CommandError, exitCodes, type Terminal } from './terminal.ts';

const notes = `
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
  program
    .command('directory')
    .description('the directory of accounts and tokens itself')
    .command('copy')
    .description('copy the embedded directory of a stopped service into an empty PostgreSQL')
    .option('--to <url>', 'postgres://user@host/database [WEIR_DIRECTORY_URL]')
    .addHelpText('after', notes)
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
      const { copyDirectory } = await import('../copy-directory.ts');
      const counts = await copyDirectory({ dataDir }, { url, password });
      createOutput(terminal, flags.json ? 'json' : 'text').record(counts);
    });
}
