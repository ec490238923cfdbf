/** `weir` as a separate process, in pipes or in a pseudo terminal (util-linux's script). */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const entry = fileURLToPath(new URL('../../src/cli/weir.ts', import.meta.url));

/** Command line for a shell; arguments follow. */
export const weirWords = `'${process.execPath}' '${entry}'`;

/** A reason to skip, or false if `script` exists. */
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

/** Runs a shell line in pipes. */
export function startInPipes(
  line: string,
  environment: Readonly<Record<string, string>>,
): RunningCommand {
  return start('sh', ['-c', line], environment);
}

/** Runs a shell line in a pseudo terminal, where both outputs are one; 100 columns wide. */
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
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const child = spawn(command, argv, { env: { PATH, NODE_COMPILE_CACHE, ...environment } });
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
