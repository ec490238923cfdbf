/** `weir token recover`: the one command that opens the data directory itself. */
import type { Command } from 'commander';
import { dataDirectory } from './connection.ts';
import { createOutput } from './session.ts';
import type { Terminal } from './terminal.ts';

export function addTokenRecover(token: Command, terminal: Terminal): void {
  token
    .command('recover')
    .description('issue a new operator token from the data directory itself (--data)')
    .action(async (_options: object, command: Command) => {
      const flags = command.optsWithGlobals<{ data?: string; json?: true }>();
      // Not before it is asked for: a directory takes longer to load than all commands together.
      const { recoverToken } = await import('../recover.ts');
      const recovered = await recoverToken(dataDirectory(flags.data, terminal.environment));
      createOutput(terminal, flags.json ? 'json' : 'text').record(recovered);
    });
}
