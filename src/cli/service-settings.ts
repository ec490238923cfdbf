/** The settings of a service, for commands that open what is its own, with it or instead of it. */
import { ConfigError, loadConfig } from '../config/load.ts';
import { CommandError, exitCodes, type Terminal } from './terminal.ts';

export interface SettingsFlags {
  readonly data?: string;
  readonly config?: string;
}

/** Of `--config`, where it is not a program's own. */
export const configOption = [
  '--config <file>',
  'settings of the service, as it has them [WEIR_CONFIG]',
] as const;

/** @throws CommandError with every fault found */
export function loadSettings(
  { data, config }: SettingsFlags,
  { environment }: Pick<Terminal, 'environment'>,
): ReturnType<typeof loadConfig> {
  const flags = [
    ...(data === undefined ? [] : ['--data', data]),
    ...(config === undefined ? [] : ['--config', config]),
  ];
  try {
    return loadConfig({ flags, environment });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new CommandError(error.message, exitCodes.usage);
  }
}
