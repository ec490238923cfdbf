/** A PostgreSQL from the machine's packages, with its own directory and a free port. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import type { PostgresTimes } from '../../src/directory/postgres-pool.ts';
import { until } from '../harness/until.ts';
import { childrenOf } from '../harness/weir-process.ts';
import { freePort } from '../senders/program.ts';

/** Debian's folder with the server's programs, per version. */
const versions = '/usr/lib/postgresql';

/**
 * For the `skip` option: false if installed, else a sentence.
 * @throws Error instead of the sentence if `WEIR_TEST_SERVERS=required`
 */
export function postgresMissing(): string | false {
  if (findPrograms() !== undefined) return false;
  const sentence = 'PostgreSQL is missing: apt-get install postgresql';
  if (process.env['WEIR_TEST_SERVERS'] === 'required') throw new Error(sentence);
  return sentence;
}

/** It refuses to run as root; Debian's package creates a user for it. */
interface User {
  readonly uid?: number;
  readonly gid?: number;
}

/** Long, so that a busy machine does not look like an outage. */
export const patientTimes: PostgresTimes = {
  connectMs: 3_000,
  readMs: 2_000,
  writeMs: 3_000,
  answerMs: 2_000,
  pauseMs: 20,
  tryMs: 50,
};

export class PostgresServer {
  readonly port: number;
  readonly #programs: string;
  readonly #folder: string;
  readonly #user: User;
  #process: ChildProcess | undefined;
  #schemas = 0;

  static async start(): Promise<PostgresServer> {
    const server = new PostgresServer(await freePort());
    server.#initialize();
    await server.start();
    return server;
  }

  /** A standby that follows another server, until it is promoted. */
  static async startStandby(primary: PostgresServer): Promise<PostgresServer> {
    const server = new PostgresServer(await freePort());
    const from = ['-d', primary.url(), '-D', server.#data];
    server.#runProgram('pg_basebackup', [...from, '-R', '-c', 'fast', '--no-sync']);
    await server.start();
    return server;
  }

  private constructor(port: number) {
    const programs = findPrograms();
    if (programs === undefined) throw new Error('PostgreSQL is missing');
    this.port = port;
    this.#programs = programs;
    this.#folder = mkdtempSync(join(tmpdir(), 'weir-postgres-'));
    this.#user = serverUser();
    const { uid, gid } = this.#user;
    if (uid !== undefined && gid !== undefined) chownSync(this.#folder, uid, gid);
  }

  #initialize(): void {
    // A locale that does not sort byte by byte, as most servers have.
    const language = ['--locale=C.UTF-8', '--locale-provider=icu', '--icu-locale=en'];
    const flags = ['-D', this.#data, '-U', 'weir', '-E', 'UTF8', '-A', 'trust', '--no-sync'];
    this.#runProgram('initdb', [...flags, ...language]);
    const access = join(this.#data, 'pg_hba.conf');
    const rules = 'host all guarded 127.0.0.1/32 scram-sha-256\n';
    writeFileSync(access, rules + readFileSync(access, 'utf8'));
    // Only processes are killed here, not the machine.
    const settings = "fsync = off\nshared_buffers = 16MB\nlisten_addresses = '127.0.0.1'\n";
    appendFileSync(join(this.#data, 'postgresql.conf'), settings);
  }

  #runProgram(name: string, argv: readonly string[]): void {
    execFileSync(join(this.#programs, name), argv, { ...this.#user, stdio: 'ignore' });
  }

  get #data(): string {
    return join(this.#folder, 'data');
  }

  /** @param parameters of the URL, such as `options`. */
  url(parameters: Readonly<Record<string, string>> = {}, user = 'weir'): string {
    const query = new URLSearchParams(parameters).toString();
    return `postgres://${user}@127.0.0.1:${this.port}/postgres?${query}`;
  }

  /** URL of an unused schema. */
  async newUrl(): Promise<string> {
    this.#schemas += 1;
    const name = `s${this.#schemas}`;
    await this.run(`create schema ${name}`);
    return this.url({ options: `-c search_path=${name}` });
  }

  async run(sql: string, url = this.url()): Promise<readonly Record<string, unknown>[]> {
    const client = new Client({ connectionString: url });
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(sql)).rows;
    } finally {
      await client.end();
    }
  }

  /** Runs a statement in a transaction that stays open until released. */
  async hold(sql: string): Promise<{ release(): Promise<void> }> {
    const client = new Client({ connectionString: this.url() });
    await client.connect();
    await client.query(`begin; ${sql}`);
    return { release: () => client.end() };
  }

  async start(): Promise<void> {
    const flags = ['-D', this.#data, '-p', String(this.port), '-k', this.#folder];
    this.#process = spawn(join(this.#programs, 'postgres'), flags, {
      ...this.#user,
      stdio: 'ignore',
    });
    await until(() => this.#answers(), { what: 'PostgreSQL to answer' });
  }

  /** Terminates its connections. */
  async stop(): Promise<void> {
    const running = this.#process;
    this.#process = undefined;
    if (!running || running.exitCode !== null) return;
    const exited = once(running, 'exit');
    running.kill('SIGINT');
    await exited;
  }

  /** Kills it. */
  async crash(): Promise<void> {
    const exited = once(this.#process!, 'exit');
    this.#signal('SIGKILL');
    await exited;
    this.#process = undefined;
  }

  /** Enables TLS. */
  async speakTls({ cert, key }: { readonly cert: string; readonly key: string }): Promise<void> {
    this.#write('server.crt', cert);
    this.#write('server.key', key);
    const file = join(this.#data, 'postgresql.conf');
    const minimum = "ssl_min_protocol_version = 'TLSv1.3'";
    appendFileSync(file, `ssl = on\nlisten_addresses = '127.0.0.1, 127.0.0.2'\n${minimum}\n`);
    await this.stop();
    await this.start();
  }

  #write(name: string, text: string): void {
    const file = join(this.#data, name);
    writeFileSync(file, text, { mode: 0o600 });
    const { uid, gid } = this.#user;
    if (uid !== undefined && gid !== undefined) chownSync(file, uid, gid);
  }

  /** Suspends it: accepts connections and never answers. */
  pause(): void {
    this.#signal('SIGSTOP');
  }

  resume(): void {
    this.#signal('SIGCONT');
  }

  async close(): Promise<void> {
    this.resume();
    await this.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #signal(signal: NodeJS.Signals): void {
    const pid = this.#process?.pid;
    if (pid === undefined) return;
    for (const each of [pid, ...childrenOf(pid)]) {
      try {
        process.kill(each, signal);
      } catch (error) {
        // Backends may have ended already.
        if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
      }
    }
  }

  async #answers(): Promise<boolean> {
    try {
      await this.run('select 1');
      return true;
    } catch {
      return false;
    }
  }
}

function findPrograms(): string | undefined {
  if (!existsSync(versions)) return undefined;
  return readdirSync(versions)
    .map((version) => join(versions, version, 'bin'))
    .findLast((folder) => existsSync(join(folder, 'initdb')));
}

function serverUser(): User {
  if (process.geteuid?.() !== 0) return {};
  const idOf = (flag: string) =>
    Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: idOf('-u'), gid: idOf('-g') };
}
