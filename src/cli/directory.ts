/** `weir directory accept`, `weir directory copy` and `weir token recover`. */
import type { Command } from 'commander';
import { dataDirectory } from './connection.ts';
import { createOutput } from './session.ts';
import { CommandError, exitCodes, type Terminal } from './terminal.ts';

const acceptNotes = `
Weir refuses to start if accounts, receivers, tokens or views changed on disk, by a fault or by
another program. Restore the last backup. Without a backup, this command accepts the present content
of the file; check it with weir token list and weir receiver list after the next start.

Examples:
  weir directory accept
  weir directory accept --data /var/lib/weir`;

const copyNotes = `
Stop the service first. The database, or the schema that the URL names, must not contain a directory
yet. Then start the service on the same data directory with the same URL (--directory-url): its
tokens work as before, those of quickstart.json included. The file directory.db stays unchanged and
unused. The password may come from WEIR_DIRECTORY_PASSWORD.

Examples:
  weir directory copy --to postgres://weir@db/weir?sslmode=verify-full
  weir directory copy --data /var/lib/weir --to postgres://weir@db/weir`;

interface Flags {
  readonly data?: string;
  readonly json?: true;
  readonly to?: string;
}

export function define(directory: Command, terminal: Terminal): void {
  const { environment } = terminal;
  directory
    .command('accept')
    .description('accept a directory that changed on disk; the service must be stopped')
    .addHelpText('after', acceptNotes)
    .action(async (_options: object, command: Command) => {
      const flags = command.optsWithGlobals<Flags>();
      const { acceptDirectory } = await import('../maintenance/recover.ts');
      await acceptDirectory(dataDirectory(flags.data, environment));
      createOutput(terminal, flags).record({ accepted: true });
    });
  directory
    .command('copy')
    .description('copy the embedded directory of a stopped service into an empty PostgreSQL')
    .option('--to <url>', 'postgres://user@host/database [WEIR_DIRECTORY_URL]')
    .addHelpText('after', copyNotes)
    .action(async (_options: object, command: Command) => {
      const flags = command.optsWithGlobals<Flags>();
      const url = flags.to ?? environment['WEIR_DIRECTORY_URL'];
      if (!url) {
        const message = 'cannot copy without a destination: give --to, or WEIR_DIRECTORY_URL';
        throw new CommandError(message, exitCodes.usage);
      }
      const password = environment['WEIR_DIRECTORY_PASSWORD'] ?? '';
      const dataDir = dataDirectory(flags.data, environment);
      const { copyDirectory } = await import('../maintenance/recover.ts');
      createOutput(terminal, flags).record(await copyDirectory({ dataDir }, { url, password }));
    });
}

export function addTokenRecover(token: Command, terminal: Terminal): void {
  const { environment } = terminal;
  token
    .command('recover')
    .description(
      'create an operator token directly in the data directory (--data) or WEIR_DIRECTORY_URL',
    )
    .action(async (_options: object, command: Command) => {
      const flags = command.optsWithGlobals<Flags>();
      const { recoverToken } = await import('../maintenance/recover.ts');
      const recovered = await recoverToken({
        dataDir: dataDirectory(flags.data, environment),
        url: flags.data === undefined ? environment['WEIR_DIRECTORY_URL'] : undefined,
        password: environment['WEIR_DIRECTORY_PASSWORD'],
      });
      createOutput(terminal, flags).record(recovered);
    });
}
