/** A Redis from the machine's packages, with its own directory and a free port. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../harness/until.ts';
import { freePort, missing, startProgram, type Program } from '../senders/program.ts';

/** For the `skip` option of a test. */
export function missingRedis(): string | false {
  return missing('redis-server', 'redis-server');
}

export class RedisServer {
  readonly folder: string;
  readonly port: number;
  readonly #flags: readonly string[];
  #program: Program;

  /**
   * @param toFlags such as `--requirepass`, given the folder
   * @param prepare creates files for the flags
   */
  static async start(
    toFlags: (folder: string) => readonly string[] = () => [],
    prepare: (folder: string) => Promise<unknown> = async () => {},
  ): Promise<RedisServer> {
    const folder = mkdtempSync(join(tmpdir(), 'weir-redis-'));
    await prepare(folder);
    const server = new RedisServer(folder, await freePort(), toFlags(folder));
    await server.#accepts();
    return server;
  }

  constructor(folder: string, port: number, flags: readonly string[]) {
    this.folder = folder;
    this.port = port;
    this.#flags = flags;
    this.#program = this.#launch();
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  signal(signal: NodeJS.Signals): void {
    this.#program.signal(signal);
  }

  /** Restarts on the same port, with empty memory. */
  async restart(): Promise<void> {
    assert.notEqual(this.#program.exit(), undefined, 'it is already running');
    this.#program = this.#launch();
    await this.#accepts();
  }

  /** Ends the process and keeps its folder. */
  async halt(): Promise<void> {
    this.#program.signal('SIGKILL');
    await this.#program.exited;
  }

  async stop(): Promise<void> {
    await this.halt();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /**
   * Raw reply to one command (https://redis.io/docs/latest/develop/reference/protocol-spec/).
   * @param command words without spaces
   */
  command(command: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = connect(this.port, '127.0.0.1', () => socket.write(`${command}\r\nQUIT\r\n`));
      let answer = '';
      socket.setEncoding('utf8').on('data', (chunk: string) => (answer += chunk));
      socket.on('error', reject).on('close', () => resolve(answer.replace(/\+OK\r\n$/, '')));
    });
  }

  /** Number of other client connections. */
  async connections(): Promise<number> {
    const count = /connected_clients:(\d+)/.exec(await this.command('INFO clients'))?.[1];
    return Number(count) - 1;
  }

  #launch(): Program {
    return startProgram('redis-server', [
      '--port',
      String(this.port),
      '--bind',
      '127.0.0.1',
      '--dir',
      this.folder,
      '--save',
      '',
      '--appendonly',
      'no',
      '--protected-mode',
      'no',
      ...this.#flags,
    ]);
  }

  async #accepts(): Promise<void> {
    await until(() => this.#isUp(), { what: 'Redis to accept connections' });
  }

  async #isUp(): Promise<boolean> {
    const exit = this.#program.exit();
    assert.equal(exit, undefined, `Redis ended:\n${this.#program.output()}`);
    return this.#program.output().includes('Ready to accept connections');
  }
}
