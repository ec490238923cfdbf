/** `weir` as a process of its own, in pipes or in a pseudo terminal (util-linux's script). */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const entry = fileURLToPath(new URL('../../src/cli/weir.ts', import.meta.url));

/** The command for a shell; arguments follow it. */
export const weirWords = `'${process.execPath}' '${entry}'`;

/** A reason to skip, or false where `script` is there. */
export const noTerminal: string | false =
  process.platform === 'linux' && spawnSync('script', ['--version']).status === 0
    ? false
    : 'there is no util-linux script';

export interface RunningCommand {
  readonly pid: number;
  out(): string;
  error(): string;
  type(text: string): void;
  /** Resolves with the exit code, -1 after a signal. */
  readonly exited: Promise<number>;
  kill(signal: NodeJS.Signals): void;
}

/** Runs a line of shell in pipes. */
export function startInPipes(
  line: string,
  environment: Readonly<Record<string, string>>,
): RunningCommand {
  return start('sh', ['-c', line], environment);
}

/** Runs a line of shell in a pseudo terminal, where both outputs are one; 100 columns wide. */
export function startInTerminal(
  line: string,
  environment: Readonly<Record<string, string>>,
): RunningCommand {
  const argv = ['-qfec', `stty cols 100 rows 30; ${line}`, '/dev/null'];
  return start('script', argv, { TERM: 'xterm', LANG: 'C.UTF-8', ...environment });
}

function start(
  command: string,
  argv: readonly string[],
  environment: Readonly<Record<string, string>>,
): RunningCommand {
  const child = spawn(command, argv, { env: { PATH: process.env['PATH'], ...environment } });
  let out = '';
  let error = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (error += text));
  return {
    pid: child.pid!,
    out: () => out,
    error: () => error,
    type: (text) => child.stdin.write(text),
    exited: once(child, 'close').then(([code]) => (code as number | null) ?? -1),
    kill: (signal) => child.kill(signal),
  };
}
