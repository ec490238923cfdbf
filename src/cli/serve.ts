/**
 * `weir serve`: loads the configuration, runs the service until it is told to stop, and says how to
 * reach it.
 */
import { ConfigError, loadConfig } from '../config/load.ts';
import { listSettings } from '../config/settings.ts';
import { run } from '../main.ts';
import { engineWelcome, welcome } from './serve-welcome.ts';
import { CommandError, exitCodes } from './terminal.ts';

/**
 * Resolves once the service has stopped in good order.
 * @throws CommandError for a wrong configuration, Error when a part cannot be opened
 */
export async function serve(argv: readonly string[]): Promise<void> {
  if (argv.includes('--help') || argv.includes('-h')) {
    process.stdout.write(help());
    return;
  }
  const config = load(argv);
  try {
    await run(config, (running) => {
      const text =
        'storeUrl' in running ? engineWelcome(running, config.data) : welcome(running, config.data);
      process.stdout.write(text);
    });
  } finally {
    // A closed client may keep a socket to a server that hangs: the process does not wait for it.
    setTimeout(() => process.exit(), exitGraceMs).unref();
  }
}

const exitGraceMs = 1000;

type Config = ReturnType<typeof loadConfig>;

function load(argv: readonly string[]): Config {
  try {
    return loadConfig({ flags: argv, environment: process.env });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new CommandError(error.message, exitCodes.usage);
  }
}

function help(): string {
  const settings = listSettings().map(({ flag, environment, description, defaultValue }) => {
    const value = defaultValue === '' ? '' : ` (default ${JSON.stringify(defaultValue)})`;
    return `  ${flag}  ${environment}\n      ${description}${value}`;
  });
  return `Usage: weir serve [--name value …]

Runs the service. Settings are flags, environment variables, or keys of the JSON file that
--config names.

${settings.join('\n')}
`;
}
