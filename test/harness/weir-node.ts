/**
 * One Weir with its own directory, restarted as often as a test needs; each run writes its
 * addresses.
 */
import assert from 'node:assert/strict';
import { readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { sendPlain } from './http.ts';
import { until } from './until.ts';
import { childrenOf, type Exit, startWeir, type WeirProcess } from './weir-process.ts';

/** File with the addresses; depends on the roles. */
export interface NodeAddresses {
  readonly opsUrl: string;
}

export class WeirNode<Addresses extends NodeAddresses = NodeAddresses> {
  readonly dataDir: string;
  /** Every process so far. */
  readonly launched: WeirProcess[] = [];
  readonly #flags: () => readonly string[];
  readonly #env: Readonly<Record<string, string>>;
  #addresses: Addresses | undefined;

  /** @param toFlags flags of `weir serve`, given the addresses of the previous run */
  constructor(
    dataDir: string,
    toFlags: (before: Addresses | undefined) => readonly string[],
    env: Readonly<Record<string, string>> = {},
  ) {
    this.dataDir = dataDir;
    this.#flags = () => toFlags(this.#addresses);
    this.#env = env;
  }

  get process(): WeirProcess {
    const running = this.launched.at(-1);
    assert.ok(running, 'the service is not running');
    return running;
  }

  get addresses(): Addresses {
    assert.ok(this.#addresses, 'the service was never ready');
    return this.#addresses;
  }

  isRunning(): boolean {
    const running = this.launched.at(-1);
    return running !== undefined && running.exit() === undefined;
  }

  launch(): WeirProcess {
    const launched = startWeir(['serve', '--data', this.dataDir, ...this.#flags()], this.#env);
    this.launched.push(launched);
    return launched;
  }

  /** Resolves once it has written its addresses. */
  async start(): Promise<Addresses> {
    const before = this.#written();
    const running = this.launch();
    this.#addresses = await until(() => this.#read(running, before), {
      what: 'quickstart.json of this run',
      timeoutMs: 120_000,
    });
    return this.#addresses;
  }

  /** Whether it is ready. */
  async isReady(): Promise<boolean> {
    const answer = await sendPlain(`${this.addresses.opsUrl}/readyz`).catch(() => undefined);
    return answer?.status === 200;
  }

  kill(signal: NodeJS.Signals): Promise<Exit> {
    this.process.kill(signal);
    return this.process.exited;
  }

  /** Child processes: the engine, or workers. */
  children(): number[] {
    return childrenOf(this.process.pid);
  }

  /** Suspends it with its children: it accepts connections and never answers. */
  pause(): void {
    this.#signalAll('SIGSTOP');
  }

  resume(): void {
    this.#signalAll('SIGCONT');
  }

  async remove(): Promise<void> {
    if (this.isRunning()) {
      this.resume();
      await this.kill('SIGKILL');
    }
    rmSync(this.dataDir, { recursive: true, force: true });
  }

  #signalAll(signal: NodeJS.Signals): void {
    for (const pid of [this.process.pid, ...this.children()]) process.kill(pid, signal);
  }

  #read(running: WeirProcess, before: string): Addresses | undefined {
    const exit = running.exit();
    if (exit !== undefined) {
      throw new Error(`weir ended with ${JSON.stringify(exit)}:\n${lastLines(running)}`);
    }
    if (this.#written() === before) return undefined;
    return JSON.parse(readFileSync(this.#file, 'utf8')) as Addresses;
  }

  /** Identifies a version of the file, which is replaced by rename. */
  #written(): string {
    const stat = statSync(this.#file, { throwIfNoEntry: false });
    return stat === undefined ? 'never' : `${stat.ino} ${stat.mtimeMs}`;
  }

  get #file(): string {
    return join(this.dataDir, 'quickstart.json');
  }
}

export function lastLines({ logs }: WeirProcess): string {
  return logs
    .slice(-20)
    .map(({ raw }) => raw)
    .join('\n');
}
