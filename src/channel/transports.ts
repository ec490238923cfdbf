/** Transports over what Node offers between threads and to child processes. */
import type { ChildProcess } from 'node:child_process';
import type { MessagePort, Worker } from 'node:worker_threads';
import { toError } from '../std/error-text.ts';
import type { Transport } from './channel.ts';

/** To a thread that this one started; closing it ends the thread. */
export function overWorker(worker: Worker): Transport {
  const closed = Promise.withResolvers<Error>();
  worker.on('error', (error) => closed.resolve(toError(error)));
  worker.on('exit', (code) => closed.resolve(new Error(`the thread ended with code ${code}`)));
  return {
    send: (message, buffers) => worker.postMessage(message, buffers),
    listen: (receive) => void worker.on('message', receive),
    closed: closed.promise,
    close: () => void worker.terminate(),
  };
}

/** To the thread that holds the other end. */
export function overPort(port: MessagePort): Transport {
  const closed = Promise.withResolvers<Error>();
  port.on('close', () => closed.resolve(new Error('the other thread closed the port')));
  return {
    send: (message, buffers) => port.postMessage(message, buffers),
    listen: (receive) => void port.on('message', receive),
    closed: closed.promise,
    close: () => port.close(),
  };
}

/** To a child process or, given `process`, to the parent; values that JSON can carry. */
export function overIpc(peer: ChildProcess | NodeJS.Process): Transport {
  const closed = Promise.withResolvers<Error>();
  peer.once('disconnect', () => closed.resolve(new Error('the other process is gone')));
  return {
    send(message) {
      // Without a callback, an error would be an 'error' event of the peer; 'disconnect' follows.
      if (peer.connected) peer.send?.(message, undefined, undefined, () => {});
    },
    listen: (receive) => void peer.on('message', receive),
    closed: closed.promise,
    close() {
      if (peer.connected) peer.disconnect?.();
    },
  };
}
