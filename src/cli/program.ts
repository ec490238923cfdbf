/** The commands of `weir`. Each module is loaded only when its command is used. */
import { readFileSync } from 'node:fs';
import { Command, CommanderError, Help } from 'commander';
import { messageOf } from '../std/error-text.ts';
import { CommandError, escapeLines, exitCodes, type Terminal } from './terminal.ts';

/** Adds arguments, options and the action. */
type Module = { readonly define: (command: Command, terminal: Terminal) => void };

/** Each command as the help shows it, with its description. */
const groups: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'Read:': {
    'logs [options] [search...]': 'show stored logs, newest last',
    'tail [options] [search...]': 'show logs as they arrive',
    'log [options] <log-id>': 'show one log with all its fields, or the logs around it',
    'trace [options] <trace-id>': 'show the logs of a trace over all services, oldest first',
    'histogram [options] [search...]': 'show log counts over time; default: the last hour',
    'facets [options] [field...]':
      'show the most common values of fields; default: severity, service and host',
    'fields [options] [field]': 'show the fields and labels that logs have, or the values of one',
    'stats [options] [stat...]':
      'show counts, sums, averages and percentiles of fields by time and groups',
    'patterns [options] [search...]': 'group logs by the template of their message',
    'compare [options] [search...]':
      'show which values of fields and labels differ from another range or query',
    'export [options] [search...]': 'write all matching logs, newest first',
  },
  'Send:': {
    'send [options] [message]': 'send a message, or the lines of standard input',
    'import [options] <file...>': 'send files, plain or compressed',
    'ship [options] [file...]': 'follow log files and the journal, and send what is written',
  },
  'Manage:': {
    whoami: 'show the scopes and accounts of the token in use',
    account: 'accounts: owners of streams and receivers',
    stream: 'streams: destinations of logs and metrics',
    receiver: 'receivers: endpoints for senders',
    token: 'tokens: credentials of senders and readers',
    view: 'views: searches saved in the explorer',
    rules: 'rules: alerts and recorded metrics',
    notifier: 'notifiers: destinations of alerts',
  },
  'Run:': {
    serve: 'run the service (weir serve --help)',
    'doctor [options]': 'check addresses, certificates, tokens, clock, disk, queue and store',
    'backup [options] [destination-dir]': 'copy a data directory, even while the service runs',
    'restore <source-dir>': 'create a data directory (--data) from a backup',
    directory: 'accept or move the directory of accounts and tokens',
    quarantine: 'batches that the store refused for their content',
    'open [options]': 'print a link that signs in to the explorer',
    'completion <shell>': 'print a script that completes commands and options in a shell',
  },
};

const loadResources = () => import('./resources.ts');
const modules: Readonly<Record<string, () => Module | Promise<Module>>> = {
  logs: () => import('./reading/logs.ts'),
  tail: () => import('./reading/tail.ts'),
  log: () => import('./reading/log.ts'),
  trace: () => import('./reading/trace.ts'),
  histogram: () => import('./reading/histogram.ts'),
  facets: () => import('./reading/facets.ts'),
  fields: () => import('./reading/fields.ts'),
  stats: () => import('./reading/stats.ts'),
  patterns: () => import('./reading/patterns.ts'),
  compare: () => import('./reading/compare.ts'),
  export: () => import('./reading/export.ts'),
  send: () => import('./sending/send.ts'),
  import: () => import('./sending/import.ts'),
  ship: () => import('./ship/ship.ts'),
  whoami: loadResources,
  account: loadResources,
  stream: loadResources,
  receiver: loadResources,
  token: loadResources,
  view: loadResources,
  notifier: loadResources,
  rules: () => import('./rules.ts'),
  serve: () => ({ define: defineServe }),
  doctor: () => import('./doctor/doctor.ts'),
  backup: () => import('./backup.ts'),
  restore: () => import('./backup.ts'),
  directory: () => import('./directory.ts'),
  quarantine: () => import('./quarantine.ts'),
  open: () => import('./open.ts'),
  completion: () => import('./completion.ts'),
};
export const commandNames: readonly string[] = Object.keys(modules);

const footer = `
Connection: flags, else the environment, else quickstart.json in the data directory.
Exit codes: ${exitCodes.ok} done, ${exitCodes.failed} failed, ${exitCodes.usage} wrong usage, \
${exitCodes.interrupted} interrupted.`;

/** Runs one command. @param argv without the program. @returns the exit code. */
export async function run(argv: readonly string[], terminal: Terminal): Promise<number> {
  try {
    if (argv[0] === 'serve') {
      const { serve } = await import('./serve.ts');
      await serve(argv.slice(1));
    } else if (argv[0] === '__complete') {
      const { complete } = await import('./completion.ts');
      terminal.writeOut(complete(await createProgram(terminal, argv), argv.slice(1)));
    } else {
      const program = await createProgram(terminal, argv);
      await program.parseAsync(argv, { from: 'user' });
    }
    return exitCodes.ok;
  } catch (error) {
    return report(error, terminal);
  }
}

/** @param loaded names of commands to load; the others have only a name and a description. */
export async function createProgram(
  terminal: Terminal,
  loaded: readonly string[],
): Promise<Command> {
  const terms = new Map<Command, string>();
  const program = new Command('weir')
    .description('Ingests, stores and serves logs and metrics.')
    .option('--url <url>', 'address of the stream port [WEIR_URL]')
    .option('--token <secret>', 'access token; prefer the environment variable [WEIR_TOKEN]')
    .option('--account <uuid>', 'account to use [WEIR_ACCOUNT]')
    .option('--ca-file <file>', 'certificate authority to trust, in PEM [WEIR_CA_FILE]')
    .option('--data <dir>', 'data directory, ./data by default [WEIR_DATA]')
    .option('--json', 'print JSON, for scripts')
    .option('--verbose', 'print on standard error what each read of logs scanned')
    .version(readVersion())
    .exitOverride()
    .configureOutput({ writeOut: terminal.writeOut, writeErr: terminal.writeError })
    .configureHelp({
      showGlobalOptions: true,
      subcommandTerm: (command) => terms.get(command) ?? new Help().subcommandTerm(command),
    })
    .addHelpText('afterAll', footer);
  for (const [group, entries] of Object.entries(groups)) {
    program.commandsGroup(group);
    for (const [term, description] of Object.entries(entries)) {
      const [name = ''] = term.split(' ');
      const command = program.command(name).description(description);
      terms.set(command, term);
      if (loaded.includes(name)) (await modules[name]!()).define(command, terminal);
    }
  }
  return program.helpCommand('help [command]', 'show the help of a command');
}

/** For the help; `run` passes `weir serve …` on, because its flags are the settings. */
function defineServe(command: Command): void {
  command
    .addHelpText(
      'after',
      `
Examples:
  weir serve
  weir serve --data /var/lib/weir --ingest-port 443
  weir serve --help`,
    )
    .action(() => {
      throw new CommandError(
        'cannot accept flags before serve: put them after it',
        exitCodes.usage,
      );
    });
}

/** `src` and `dist` both lie beside package.json. */
function readVersion(): string {
  const file = new URL('../../package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}

function report(error: unknown, { writeError, signal, outClosed }: Terminal): number {
  if (error instanceof CommanderError) {
    // Commander has written its message already; --help and --version end with 0.
    return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  }
  if (!(error instanceof CommandError)) {
    if (signal.aborted) return exitCodes.interrupted;
    if (outClosed.aborted) return exitCodes.ok;
  }
  writeError(`weir: ${escapeLines(messageOf(error))}\n`);
  return error instanceof CommandError ? error.exitCode : exitCodes.failed;
}
