/** `weir restore`: makes a data directory from a backup. */
import type { Command } from 'commander';
import { dataDirectory } from './connection.ts';
import { createOutput } from './session.ts';
import type { Terminal } from './terminal.ts';

const notes = `
The data directory must be new or empty. Every file is checked against its digest. What is restored
is a Weir of its own, with the accounts, tokens and certificates of the one that was backed up; both
may run side by side.

Examples:
  weir restore /mnt/backups/weir-2027-01-31 --data /var/lib/weir && weir serve --data /var/lib/weir
  weir restore /mnt/backups/tonight --data ./copy`;

export function addRestoreCommand(program: Command, terminal: Terminal): void {
  program
    .command('restore')
    .description('make a data directory (--data) from a backup')
    .argument('<source-dir>', 'the folder that weir backup made')
    .addHelpText('after', notes)
    .action(async (source: string, _options: object, command: Command) => {
      const flags = command.optsWithGlobals<{ data?: string; json?: true }>();
      const dataDir = dataDirectory(flags.data, terminal.environment);
      // Not before it is asked for: it loads more than all other commands together.
      const { restore } = await import('../maintenance/restore.ts');
      const manifest = await restore({ source, dataDir, signal: terminal.signal });
      if (flags.json) createOutput(terminal, 'json').record({ dataDir, ...manifest });
      else {
        terminal.writeOut(
          `${dataDir} holds what was acknowledged before ${manifest.startedAt}: ` +
            `${manifest.holds.join(', ')}; start it with weir serve --data ${dataDir}\n`,
        );
      }
    });
}
