/**
 * The real process as an operator starts it: log lines from standard error, exit status, child
 * processes.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { allocatorEnv, nodeFlags } from '../../src/service/process.ts';

const repository = fileURLToPath(new URL('../..', import.meta.url));

/** A line of standard error; level 0 if it is not JSON. */
export interface LogLine {
  readonly level: number;
  readonly msg: string;
  readonly raw: string;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface WeirProcess {
  readonly pid: number;
  readonly logs: readonly LogLine[];
  /** Standard output so far. */
  stdout(): string;
  readonly exited: Promise<Exit>;
  /** Undefined while it runs. */
  exit(): Exit | undefined;
  kill(signal: NodeJS.Signals): void;
}

/** Runs `weir <args>` with this Node, from source unless `entry` names another file. */
export function startWeir(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  entry = join(repository, 'src/cli/weir.ts'),
): WeirProcess {
  const child = spawn(process.execPath, [...nodeFlags, entry, ...args], {
    cwd: repository,
    env: { ...allocatorEnv, ...withoutWeirKeys(process.env), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const { pid } = child;
  if (pid === undefined) throw new Error('cannot start weir: no process');
  const logs: LogLine[] = [];
  let stdout = '';
  let exit: Exit | undefined;
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString('utf8')));
  createInterface({ input: child.stderr }).on('line', (line) => logs.push(toLogLine(line)));
  const exited = exitOf(child).then((ended) => (exit = ended));
  return {
    pid,
    logs,
    stdout: () => stdout,
    exited,
    exit: () => exit,
    kill: (signal) => void child.kill(signal),
  };
}

/** Pids of the direct children of `pid`, from /proc. */
export function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
      .split(' ')
      .filter((text) => text.trim() !== '')
      .map(Number);
  } catch {
    // The process has ended.
    return [];
  }
}

/** Children that are ingest workers. */
export function workersOf(pid: number): number[] {
  return childrenThatRun(pid, /\/service\/worker-process\.[jt]s\0?$/);
}

/** Children that are engines; suspended before its `exec`, one would block its parent as well. */
export function enginesOf(pid: number): number[] {
  return childrenThatRun(pid, /\/engine\/child\.[jt]s\0?$/);
}

function childrenThatRun(pid: number, command: RegExp): number[] {
  return childrenOf(pid).filter((child) => command.test(commandOf(child)));
}

/** Command line with NUL-terminated arguments; empty after its end. */
function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    return '';
  }
}

export function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

function exitOf(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    // `close` follows the last line of standard error; `exit` may precede it.
    child.on('close', (code, signal) => resolve({ code, signal }));
  });
}

function toLogLine(raw: string): LogLine {
  try {
    const line = JSON.parse(raw) as { level?: number; msg?: string };
    return { level: line.level ?? 0, msg: line.msg ?? '', raw };
  } catch {
    return { level: 0, msg: raw, raw };
  }
}

/** The test runner's environment must not configure the service. */
export function withoutWeirKeys(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(env).filter(([key]) => !key.startsWith('WEIR_') && key !== 'NODE_TEST_CONTEXT'),
  );
}
