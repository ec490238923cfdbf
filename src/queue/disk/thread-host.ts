/**
 * The asking side of the log's thread: sends calls, matches answers, and fails every call once the
 * thread is gone.
 */
import { Worker } from 'node:worker_threads';
import type { LogCalls, LogHost, OpenedHost } from './log-host.ts';
import type { LogOptions, Recovery } from './log-options.ts';
import { toError } from '../../std/error-text.ts';

export interface CallMessage {
  readonly id: number;
  readonly name: keyof LogCalls;
  readonly input: readonly unknown[];
}

export type FromThread =
  | { readonly kind: 'opened'; readonly recovery: Recovery }
  | { readonly kind: 'not opened'; readonly error: Error }
  | { readonly kind: 'answered'; readonly id: number; readonly value: unknown }
  | {
      readonly kind: 'failed';
      readonly id: number;
      readonly error: Error;
      /** Of a system call that failed: an error loses it on its way between threads. */
      readonly code: string | undefined;
    };

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** Starts the thread and opens the log in it. @throws Error as `openLog` does. */
export function openThreadHost(options: LogOptions): Promise<OpenedHost> {
  // Beside this file lies the thread's: as source when run from source, compiled when compiled.
  const file = import.meta.url.endsWith('.ts') ? './log-thread.ts' : './log-thread.js';
  const worker = new Worker(new URL(file, import.meta.url), { workerData: options });
  const calls = new ThreadCalls(worker);
  return new Promise((resolve, reject) => {
    worker.on('message', (message: FromThread) => {
      if (message.kind === 'opened') resolve({ host: hostOf(calls), recovery: message.recovery });
      else if (message.kind === 'not opened') reject(message.error);
      else calls.settle(message);
    });
    worker.on('error', (error) => {
      const failure = toError(error);
      calls.fail(failure);
      reject(failure);
    });
    worker.on('exit', (code) => {
      const error = new Error(`cannot reach the log: its thread ended with code ${code}`);
      calls.fail(error);
      reject(error);
    });
  });
}

class ThreadCalls {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  #lastId = 0;
  #failure: Error | undefined;

  constructor(worker: Worker) {
    this.#worker = worker;
  }

  send<Name extends keyof LogCalls>(
    name: Name,
    input: Parameters<LogCalls[Name]>,
    transfer: ArrayBuffer[],
  ): Promise<ReturnType<LogCalls[Name]>> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve: resolve as (value: unknown) => void, reject });
      this.#worker.postMessage({ id, name, input } satisfies CallMessage, transfer);
    });
  }

  settle(message: Extract<FromThread, { id: number }>): void {
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if (message.kind === 'answered') waiting?.resolve(message.value);
    else waiting?.reject(Object.assign(message.error, { code: message.code }));
  }

  fail(error: Error): void {
    this.#failure ??= error;
    for (const waiting of this.#waiting.values()) waiting.reject(this.#failure);
    this.#waiting.clear();
  }

  async close(floorNanos: bigint): Promise<void> {
    const ended = new Promise((resolve) => this.#worker.once('exit', resolve));
    await this.send('close', [floorNanos], []);
    await ended;
  }
}

function hostOf(calls: ThreadCalls): LogHost {
  return {
    append: (buffer, length) => calls.send('append', [buffer, length], [buffer]),
    read: (request) => calls.send('read', [request], []),
    holds: (ids) => calls.send('holds', [ids], []),
    release: (sequence, floorNanos) => calls.send('release', [sequence, floorNanos], []),
    quarantine: (frame, reason) => calls.send('quarantine', [frame, reason], [frame.buffer]),
    freeBytes: () => calls.send('freeBytes', [], []),
    close: (floorNanos) => calls.close(floorNanos),
  };
}
