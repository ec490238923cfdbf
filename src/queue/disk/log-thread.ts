/**
 * The thread that owns the log and waits for the disk, so that no other thread has to: it opens the
 * log, answers one call after the other, and ends when told to close. Loaded by `openThreadHost`
 * alone.
 */
import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import { createNodeFileSystem } from '../../files/file-system.ts';
import { openLog } from './log.ts';
import { createLogCalls, type LogCalls } from './log-host.ts';
import type { LogOptions } from './log-options.ts';
import type { CallMessage, FromThread } from './thread-host.ts';
import { toError } from '../../std/error-text.ts';

if (!isMainThread && parentPort !== null) serve(parentPort, workerData as LogOptions);

function serve(port: NonNullable<typeof parentPort>, options: LogOptions): void {
  const send = (message: FromThread, transfer: ArrayBuffer[]) =>
    port.postMessage(message, transfer);
  const opened = attempt(() => openLog(createNodeFileSystem(), options));
  if ('error' in opened) {
    send({ kind: 'not opened', error: opened.error }, []);
    port.close();
    return;
  }
  const calls = createLogCalls(opened.value.log);
  const { recovery } = opened.value;
  send({ kind: 'opened', recovery }, buffersOf(recovery.keyChunks));
  port.on('message', ({ id, name, input }: CallMessage) => {
    const answer = attempt(() => invoke(calls, name, input));
    if ('error' in answer) send(toFailed(id, answer.error), []);
    else send({ kind: 'answered', id, value: answer.value }, transferable(answer.value));
    if (name === 'close') port.close();
  });
}

function invoke(calls: LogCalls, name: keyof LogCalls, input: readonly unknown[]): unknown {
  const call = calls[name] as (...input: readonly unknown[]) => unknown;
  return call(...input);
}

function attempt<T>(action: () => T): { value: T } | { error: Error } {
  try {
    return { value: action() };
  } catch (error) {
    return { error: toError(error) };
  }
}

function toFailed(id: number, error: NodeJS.ErrnoException): FromThread {
  return { kind: 'failed', id, error, code: error.code };
}

/** The memory of an answer that may be handed over instead of copied. */
function transferable(value: unknown): ArrayBuffer[] {
  if (value instanceof ArrayBuffer) return [value];
  if (typeof value !== 'object' || value === null || !('frames' in value)) return [];
  return buffersOf(value.frames as readonly Uint8Array<ArrayBuffer>[]);
}

function buffersOf(views: readonly Uint8Array<ArrayBuffer>[]): ArrayBuffer[] {
  return [...new Set(views.map((view) => view.buffer))];
}
