/**
 * `weir serve`: loads the configuration, runs the service until it is told to stop, and says how to
 * reach it.
 */
import { setFlagsFromString } from 'node:v8';
import { ConfigError, loadConfig } from '../config/load.ts';
import { listSettings } from '../config/settings.ts';
import { openWeir } from '../main.ts';
import { welcome } from './serve-welcome.ts';
import { CommandError, exitCodes } from './terminal.ts';

/**
 * Counts buffers outside the heap as part of it. By default every few dozen megabytes of request
 * bodies that come and go start a full collection of a heap that hardly changes: a third of the
 * gateway's processor time under load.
 */
const collectorFlag = '--external-memory-accounted-in-global-limit';

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
  setFlagsFromString(collectorFlag);
  const weir = await openWeir(config);
  process.stdout.write(welcome(weir, config.data));
  await untilAskedToStop();
  await weir.close();
}

function load(argv: readonly string[]): ReturnType<typeof loadConfig> {
  try {
    return loadConfig({ flags: argv, environment: process.env });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new CommandError(error.message, exitCodes.usage);
  }
}

/**
 * A second signal does not wait for what is under way: it ends the process as the system would
 * have.
 */
function untilAskedToStop(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
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
