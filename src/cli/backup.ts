/** `weir backup` and `weir restore`. */
import { type Command, Option } from 'commander';
import { dataDirectory } from './connection.ts';
import { configOption, loadSettings, type SettingsFlags, toServeFlags } from './settings.ts';
import { createOutput } from './session.ts';
import { CommandError, exitCodes, type Terminal } from './terminal.ts';

const backupNotes = `
The folder gets its name only when the backup is complete. It contains all secrets of the data
directory: accounts, logs, metrics, the TLS authority and the tokens of the first run. The service
may be running; the backup contains everything acknowledged before it began.

Examples:
  weir backup /mnt/backups/weir-2027-01-31
  weir backup /mnt/backups/tonight --data /var/lib/weir
  weir backup --verify /mnt/backups/weir-2027-01-31`;

const restoreNotes = `
The data directory must be new or empty. Every file is checked against its digest. The restored
instance has the accounts, tokens and certificates of the original; both may run side by side.

Examples:
  weir restore /mnt/backups/weir-2027-01-31 --data /var/lib/weir && weir serve --data /var/lib/weir
  weir restore /mnt/backups/tonight --data ./copy`;

interface Flags extends SettingsFlags {
  readonly json?: true;
  readonly verify?: string;
}

export function define(command: Command, terminal: Terminal): void {
  if (command.name() === 'restore') {
    command
      .argument('<source-dir>', 'a folder created by weir backup')
      .addHelpText('after', restoreNotes)
      .action((source: string) => restore(source, command.optsWithGlobals<Flags>(), terminal));
    return;
  }
  command
    .argument('[destination-dir]', 'a folder that does not exist yet')
    .addOption(new Option('--verify <dir>', 'check a backup and report damage'))
    .option(...configOption)
    .addHelpText('after', backupNotes)
    .action(async (destination: string | undefined) => {
      const flags = command.optsWithGlobals<Flags>();
      if (flags.verify !== undefined && destination === undefined) {
        await verify(flags.verify, flags, terminal);
      } else if (flags.verify === undefined && destination !== undefined) {
        await backUp(destination, flags, terminal);
      } else {
        const message = 'cannot choose between backup and check: give a destination, or --verify';
        throw new CommandError(message, exitCodes.usage);
      }
    });
}

async function verify(source: string, flags: Flags, terminal: Terminal): Promise<void> {
  const { verifyBackup } = await import('../maintenance/restore.ts');
  const manifest = await verifyBackup(source, terminal.signal);
  if (flags.json) createOutput(terminal, flags).record({ source, ...manifest });
  else terminal.writeOut(`${source} is intact: ${manifest.files} files, ${manifest.bytes} bytes\n`);
}

async function backUp(destination: string, flags: Flags, terminal: Terminal): Promise<void> {
  const config = loadSettings(toServeFlags(flags), terminal.environment);
  const { data: dataDir, directory, queue, store } = config;
  const servers = [
    { part: 'directory', key: 'directory.url', isSet: directory.url !== '' },
    { part: 'queue', key: 'queue.urls', isSet: queue.urls.length > 0 },
    { part: 'store', key: 'store.url', isSet: store.url !== '' },
  ] as const;
  const remote = servers.filter(({ isSet }) => isSet);
  for (const { part, key } of remote) {
    terminal.writeError(
      `weir: the backup omits the ${part}, which is on a server (${key}): ` +
        'see docs/runbook-upkeep.md\n',
    );
  }
  const { backUp: makeBackup } = await import('../maintenance/backup.ts');
  const elsewhere = new Set(remote.map(({ part }) => part));
  const { signal } = terminal;
  const manifest = await makeBackup({ dataDir, destination, elsewhere, signal });
  if (flags.json) createOutput(terminal, flags).record({ destination, ...manifest });
  else {
    const { files, bytes, holds } = manifest;
    terminal.writeOut(`${destination}: ${holds.join(', ')}; ${files} files, ${bytes} bytes\n`);
  }
}

async function restore(source: string, flags: Flags, terminal: Terminal): Promise<void> {
  const dataDir = dataDirectory(flags.data, terminal.environment);
  const maintenance = await import('../maintenance/restore.ts');
  const manifest = await maintenance.restore({ source, dataDir, signal: terminal.signal });
  if (flags.json) createOutput(terminal, flags).record({ dataDir, ...manifest });
  else {
    terminal.writeOut(
      `${dataDir} holds what was acknowledged before ${manifest.startedAt}: ` +
        `${manifest.holds.join(', ')}; start it with weir serve --data ${dataDir}\n`,
    );
  }
}
