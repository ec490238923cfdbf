/** Writer processes that a test starts, pauses, kills and watches. */
import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import type { NatsSettings } from '../../src/queue/nats/connection.ts';
import { until } from '../harness/until.ts';
import type { JudgingStore, SentInsert, Verdict } from './judging-store.ts';

export type FromWriter =
  | { readonly ready: true }
  | { readonly begun: string }
  | { readonly ended: string }
  | { readonly call: number; readonly insert: SentInsert }
  | { readonly call: number; readonly fence: { readonly shard: string; readonly epoch: string } };

export type ToWriter =
  | { readonly close: true }
  | { readonly call: number; readonly verdict: Verdict };

export class WriterProcess {
  /** Shards that it reports to hold. */
  readonly shards = new Set<string>();
  readonly #child: ChildProcess;
  readonly #store: JudgingStore;
  readonly #exited: Promise<number | null>;
  #isReady = false;
  #output = '';

  static async start(options: NatsSettings, store: JudgingStore): Promise<WriterProcess> {
    const writer = new WriterProcess(options, store);
    await until(() => writer.#isReady || writer.#child.exitCode !== null, { what: 'a writer' });
    if (!writer.#isReady) throw new Error(`a writer ended:\n${writer.#output}`);
    return writer;
  }

  constructor(options: NatsSettings, store: JudgingStore) {
    this.#store = store;
    const program = join(import.meta.dirname, 'nats-writer.ts');
    this.#child = fork(program, [JSON.stringify(options)], {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => (this.#output += text));
    }
    this.#exited = new Promise((resolve) => this.#child.on('exit', (code) => resolve(code)));
    this.#child.on('message', (message: FromWriter) => void this.#hear(message));
  }

  output(): string {
    return this.#output;
  }

  pause(): void {
    this.#child.kill('SIGSTOP');
  }

  resume(): void {
    this.#child.kill('SIGCONT');
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#exited;
  }

  /** @returns its exit code */
  close(): Promise<number | null> {
    this.#send({ close: true });
    return this.#exited;
  }

  async #hear(message: FromWriter): Promise<void> {
    if ('ready' in message) this.#isReady = true;
    else if ('begun' in message) this.shards.add(message.begun);
    else if ('ended' in message) this.shards.delete(message.ended);
    else {
      const verdict =
        'insert' in message
          ? await this.#store.insert(message.insert)
          : await this.#store.fence(message.fence.shard, message.fence.epoch);
      this.#send({ call: message.call, verdict });
    }
  }

  /** Ignores a writer that has exited. */
  #send(message: ToWriter): void {
    if (this.#child.connected) this.#child.send(message, () => undefined);
  }
}
