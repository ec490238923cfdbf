/** `weir backup`: copies a data directory, beside the service that runs on it, or checks a copy. */
import { type Command, Option } from 'commander';
import { configOption, loadSettings, type SettingsFlags } from './service-settings.ts';
import { createOutput } from './session.ts';
import { CommandError, exitCodes, type Terminal } from './terminal.ts';

const notes = `
The folder is made, and is there under its name only once it is whole. It holds every secret that
the data directory holds: accounts, logs, metrics, the TLS authority and the tokens of the first
run. The service may run meanwhile; all that it acknowledged before the backup began is in it.

Examples:
  weir backup /mnt/backups/weir-2027-01-31
  weir backup /mnt/backups/tonight --data /var/lib/weir
  weir backup --verify /mnt/backups/weir-2027-01-31`;

interface Flags extends SettingsFlags {
  readonly json?: true;
  readonly verify?: string;
}

export function addBackupCommand(program: Command, terminal: Terminal): void {
  program
    .command('backup')
    .description('copy all that a data directory holds, while the service runs')
    .argument('[destination-dir]', 'a folder that is not there yet')
    .addOption(new Option('--verify <dir>', 'make none, but read one and say what is damaged'))
    .option(...configOption)
    .addHelpText('after', notes)
    .action(async (destination: string | undefined, _options: object, command: Command) => {
      const flags = command.optsWithGlobals<Flags>();
      if ((destination === undefined) === (flags.verify === undefined)) {
        throw new CommandError('cannot tell what to do: give a destination, or --verify', usage);
      }
      if (flags.verify !== undefined) await verify(flags.verify, flags, terminal);
      else await backUp(destination!, flags, terminal);
    });
}

const { usage } = exitCodes;

async function verify(source: string, flags: Flags, terminal: Terminal): Promise<void> {
  // Not before it is asked for: it loads more than all other commands together.
  const { verifyBackup } = await import('../maintenance/restore.ts');
  const manifest = await verifyBackup(source, terminal.signal);
  if (flags.json) createOutput(terminal, 'json').record({ source, ...manifest });
  else terminal.writeOut(`${source} is whole: ${manifest.files} files, ${manifest.bytes} bytes\n`);
}

/** Settings by which a server stands in for a part, with the part's name. */
const servers = [
  ['directory', 'directory.url'],
  ['queue', 'queue.urls'],
  ['store', 'store.url'],
] as const;

async function backUp(destination: string, flags: Flags, terminal: Terminal): Promise<void> {
  const { signal, writeOut, writeError } = terminal;
  const config = loadSettings(flags, terminal);
  const isSet = {
    directory: config.directory.url !== '',
    queue: config.queue.urls.length > 0,
    store: config.store.url !== '',
  };
  const away = servers.filter(([part]) => isSet[part]);
  for (const [part, key] of away) {
    writeError(
      `weir: this does not cover the ${part}, which is on a server (${key}): ` +
        'see docs/runbook-upkeep.md\n',
    );
  }
  const { backUp: makeBackup } = await import('../maintenance/backup.ts');
  const elsewhere = new Set(away.map(([part]) => part));
  const manifest = await makeBackup({ dataDir: config.data, destination, elsewhere, signal });
  if (flags.json) {
    createOutput(terminal, 'json').record({ destination, ...manifest });
    return;
  }
  const { files, bytes, holds } = manifest;
  writeOut(`${destination}: ${holds.join(', ')}; ${files} files, ${bytes} bytes\n`);
}
