/** `weir open`: prints the address of the explorer, and opens it in a browser. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Command } from 'commander';
import { messageOf } from '../std/error-text.ts';
import {
  type ConnectionFlags,
  quickstartFile,
  readQuickstart,
  resolveStreamUrl,
} from './connection.ts';
import { CommandError, type Environment, type Terminal } from './terminal.ts';

const examples = `
Examples:
  weir open
  weir open --browser`;

export function define(command: Command, terminal: Terminal): void {
  const { environment, writeOut, styleOut } = terminal;
  command
    .option('--browser', 'also open it in a browser')
    .addHelpText('after', examples)
    .action(async () => {
      const flags = command.optsWithGlobals<ConnectionFlags & { readonly browser?: true }>();
      const file = quickstartFile(flags.data, environment);
      const quickstart = readQuickstart(file);
      const { href } = resolveStreamUrl(flags.url, environment, { file, quickstart });
      const url = `${href.replace(/\/$/, '')}/`;
      writeOut(`${url}\n`);
      const token = describeToken(flags, environment, quickstart.accessToken && file);
      if (terminal.isOutTty && token !== undefined) {
        writeOut(`${styleOut('dim', `sign in with ${token}`)}\n`);
      }
      if (flags.browser) await openBrowser(url, environment);
    });
}

/** Describes where the token is, never the token. */
function describeToken(
  { token }: ConnectionFlags,
  environment: Environment,
  file: string | undefined,
): string | undefined {
  if (token !== undefined) return 'the token that you gave';
  if (environment['WEIR_TOKEN'] !== undefined) return 'the token in WEIR_TOKEN';
  return file && `the accessToken in ${file}`;
}

/** Resolves once the opener has started. */
async function openBrowser(url: string, environment: Environment): Promise<void> {
  const opener = process.platform === 'darwin' ? 'open' : 'xdg-open';
  const child = spawn(opener, [url], { env: environment, detached: true, stdio: 'ignore' });
  try {
    await once(child, 'spawn');
  } catch (error) {
    throw new CommandError(`cannot open a browser with ${opener}: ${messageOf(error)}`);
  }
  child.unref();
}
