/** `weir open`: where the explorer is. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Command } from 'commander';
import {
  type ConnectionFlags,
  missing,
  quickstartFile,
  readQuickstart,
  toUrl,
} from './connection.ts';
import { CommandError, type Terminal } from './terminal.ts';
import { messageOf } from '../std/error-text.ts';

interface OpenFlags extends ConnectionFlags {
  readonly browser?: true;
}

const examples = `
Examples:
  weir open
  weir open --browser`;

export function addOpenCommand(program: Command, terminal: Terminal): void {
  program
    .command('open')
    .description('print the address of the explorer')
    .option('--browser', 'open it in a browser, too')
    .addHelpText('after', examples)
    .action(async (_options: object, command: Command) => {
      const flags = command.optsWithGlobals<OpenFlags>();
      const { url, token } = findExplorer(flags, terminal.environment);
      terminal.writeOut(`${url}\n`);
      if (terminal.isOutTty && token !== undefined) {
        terminal.writeOut(`${terminal.styleOut('dim', `sign in with ${token}`)}\n`);
      }
      if (flags.browser) await openBrowser(url, terminal.environment);
    });
}

/** @returns where the token is, never the token. */
function findExplorer(
  flags: ConnectionFlags,
  environment: Terminal['environment'],
): { readonly url: string; readonly token: string | undefined } {
  const file = quickstartFile(flags.data, environment);
  const quickstart = readQuickstart(file);
  const address = flags.url ?? environment['WEIR_URL'] ?? quickstart.streamUrl;
  const url = toUrl(address ?? missing('address of the stream port', '--url, WEIR_URL', file));
  return {
    url: `${url.href.replace(/\/$/, '')}/`,
    token: whereTokenIs(flags, environment, quickstart.accessToken && file),
  };
}

function whereTokenIs(
  { token }: ConnectionFlags,
  environment: Terminal['environment'],
  file: string | undefined,
): string | undefined {
  if (token !== undefined) return 'the token that you gave';
  if (environment['WEIR_TOKEN'] !== undefined) return 'the token in WEIR_TOKEN';
  return file && `the accessToken in ${file}`;
}

/** Resolves once the browser has been asked; how it fares is its own affair. */
async function openBrowser(url: string, environment: Terminal['environment']): Promise<void> {
  const opener = process.platform === 'darwin' ? 'open' : 'xdg-open';
  const child = spawn(opener, [url], { env: environment, detached: true, stdio: 'ignore' });
  try {
    await once(child, 'spawn');
  } catch (error) {
    const words = messageOf(error);
    throw new CommandError(`cannot open a browser with ${opener}: ${words}`);
  }
  child.unref();
}
