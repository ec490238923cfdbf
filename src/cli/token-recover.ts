/** `weir token recover`: the one command that opens the directory itself. */
import type { Command } from 'commander';
import { dataDirectory } from './connection.ts';
import { createOutput } from './session.ts';
import type { Terminal } from './terminal.ts';

export function addTokenRecover(token: Command, terminal: Terminal): void {
  token
    .command('recover')
    .description(
      'issue a new operator token from the data directory itself (--data), or WEIR_DIRECTORY_URL',
    )
    .action(async (_options: object, command: Command) => {
      const flags = command.optsWithGlobals<{ data?: string; json?: true }>();
      // Not before it is asked for: a directory takes longer to load than all commands together.
      const { recoverToken } = await import('../maintenance/recover.ts');
      const { environment } = terminal;
      const recovered = await recoverToken({
        dataDir: dataDirectory(flags.data, environment),
        url: flags.data === undefined ? environment['WEIR_DIRECTORY_URL'] : undefined,
        password: environment['WEIR_DIRECTORY_PASSWORD'],
      });
      createOutput(terminal, flags.json ? 'json' : 'text').record(recovered);
    });
}
