/** `weir open`: prints a link that signs in to the explorer, and opens it in a browser. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Command } from 'commander';
import { messageOf } from '../std/error-text.ts';
import {
  type ConnectionFlags,
  findSettings,
  quickstartFile,
  readQuickstart,
  resolveStreamUrl,
} from './connection.ts';
import { openSession } from './session.ts';
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
      const { streamUrl, accessToken } = findSettings(flags, environment, readQuickstart(file));
      const { href } = resolveStreamUrl(streamUrl, file);
      const call = { method: 'POST', path: ['sign-in-links'], inAccount: false } as const;
      const createCode = () => openSession(command, terminal).api.call<{ code: string }>(call);
      const code = accessToken && (await createCode()).code;
      const url = `${href.replace(/\/$/, '')}/${code ? `#sign-in=${code}` : ''}`;
      writeOut(`${url}\n`);
      if (terminal.isOutTty && code) {
        writeOut(`${styleOut('dim', 'this link signs one browser in, within 10 minutes')}\n`);
      }
      if (flags.browser) await openBrowser(url, environment);
    });
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
