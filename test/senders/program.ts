/**
 * Installed programs, such as Prometheus: found, started on a free port, ended by pid. A test whose
 * program is missing names its package.
 */
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { accessSync, constants } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { delimiter, join } from 'node:path';
import type { Exit } from '../harness/weir-process.ts';

export interface Program {
  readonly pid: number;
  /** Output so far, standard output and error in order of arrival. */
  output(): string;
  readonly exited: Promise<Exit>;
  /** Undefined while it runs. */
  exit(): Exit | undefined;
  signal(signal: NodeJS.Signals): void;
  /** Stops it gracefully and waits. */
  stop(): Promise<Exit>;
}

/**
 * For the `skip` option of a test: false if the program exists, else a sentence.
 * @throws Error instead of the sentence if `WEIR_TEST_SERVERS=required`
 */
export function missing(program: string, debianPackage: string): string | false {
  if (findProgram(program) !== undefined) return false;
  const sentence = `${program} is missing: apt-get install ${debianPackage}`;
  if (process.env['WEIR_TEST_SERVERS'] === 'required') throw new Error(sentence);
  return sentence;
}

export function startProgram(name: string, args: readonly string[]): Program {
  const child = spawn(findProgram(name) ?? name, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
  }
  let exit: Exit | undefined;
  const exited = new Promise<Exit>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve((exit = { code, signal })));
  });
  const signal = (sent: NodeJS.Signals) => void child.kill(sent);
  const stop = () => {
    signal('SIGTERM');
    return exited;
  };
  return { pid: child.pid ?? 0, output: () => output, exited, exit: () => exit, signal, stop };
}

/** Below the ephemeral range, so that no outgoing connection takes it. */
const ports = { from: 20_000, to: 32_000 };
/** Each block belongs to the process that listens on its first port. */
const portsPerBlock = 50;
/** Blocks of this process with unused ports. */
const unused: number[] = [];

/**
 * A port that was free a moment ago, for programs that cannot report the port they chose. Never
 * returned twice, across all test processes.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = unused.shift();
    if (port === undefined) {
      await takeBlock();
      continue;
    }
    const server = await listen(port);
    if (server === undefined) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
}

async function takeBlock(): Promise<void> {
  const block = randomInt((ports.to - ports.from) / portsPerBlock);
  const first = ports.from + block * portsPerBlock;
  // Held until this process ends.
  const guard = await listen(first);
  if (guard === undefined) return;
  guard.unref();
  for (let port = first + 1; port < first + portsPerBlock; port++) unused.push(port);
}

/** @returns undefined if another process holds it */
function listen(port: number): Promise<Server | undefined> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(undefined));
    server.listen(port, () => resolve(server));
  });
}

/** @returns the first executable of this name in PATH */
export function findProgram(program: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return folders.map((folder) => join(folder, program)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    // Missing or not permitted.
    return false;
  }
}
