/** The configuration of the service, for `weir serve` and for commands that open its parts. */
import { ConfigError, loadConfig } from '../config/load.ts';
import { CommandError, type Environment, exitCodes } from './terminal.ts';

export interface SettingsFlags {
  readonly data?: string;
  readonly config?: string;
}

export const configOption = [
  '--config <file>',
  'configuration file of the service [WEIR_CONFIG]',
] as const;

export function toServeFlags({ data, config }: SettingsFlags): string[] {
  return [
    ...(data === undefined ? [] : ['--data', data]),
    ...(config === undefined ? [] : ['--config', config]),
  ];
}

/** @param flags of `weir serve`. @throws CommandError that lists every invalid setting */
export function loadSettings(
  flags: readonly string[],
  environment: Environment,
): ReturnType<typeof loadConfig> {
  try {
    return loadConfig({ flags, environment });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new CommandError(error.message, exitCodes.usage);
  }
}
