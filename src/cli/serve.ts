/**
 * `weir serve`: loads the configuration, runs the service until it is told to stop, and says how to
 * reach it.
 */
import { setFlagsFromString } from 'node:v8';
import { collectorFlag } from '../service/collector-flag.ts';
import { ConfigError, loadConfig } from '../config/load.ts';
import { listSettings } from '../config/settings.ts';
import { openWeir, type Weir } from '../main.ts';
import { type EngineNode, isEngineAlone, openEngineNode } from '../service/engine-node.ts';
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
  setFlagsFromString(collectorFlag);
  try {
    const opening = isEngineAlone(config) ? serveEngine(config) : serveAll(config);
    const asked = untilAskedToStop(opening);
    const running = await opening;
    await asked;
    await running.close();
  } finally {
    // A client that has been closed may keep a socket to a server that hangs; the process ends
    // by itself where none does.
    setTimeout(() => process.exit(), lastWordsMs).unref();
  }
}

const lastWordsMs = 1000;
/** Far longer than the rest of opening takes once any server that it waits for is there. */
const openingMs = 2000;

async function serveAll(config: Config): Promise<Weir> {
  const weir = await openWeir(config);
  process.stdout.write(welcome(weir, config.data));
  return weir;
}

async function serveEngine(config: Config): Promise<EngineNode> {
  const engine = await openEngineNode(config);
  process.stdout.write(engineWelcome(engine, config.data));
  return engine;
}

type Config = ReturnType<typeof loadConfig>;

function load(argv: readonly string[]): Config {
  try {
    return loadConfig({ flags: argv, environment: process.env });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new CommandError(error.message, exitCodes.usage);
  }
}

/**
 * A second signal does not wait for what is under way: it ends the process as the system would
 * have, and so does a first one before all is open, which may be waiting for a server.
 */
function untilAskedToStop(opening: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const stop = (signal: NodeJS.Signals) => {
      const end = setTimeout(() => process.kill(process.pid, signal), openingMs);
      const keepOn = () => clearTimeout(end);
      void opening.then(keepOn, keepOn);
      resolve();
    };
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop);
    // The supervisor of `npm start` is gone: nothing would end or restart this process.
    if (process.channel) process.once('disconnect', () => stop('SIGTERM'));
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
