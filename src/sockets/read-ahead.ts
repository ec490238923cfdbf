/**
 * Reads a connection ahead of what is stored, so that one commit takes what arrived during the last
 * one.
 */
import type { Socket } from 'node:net';
import type { HeldBytes } from './held-bytes.ts';

/** Of a connection; it is exceeded by less than a read. */
export const maxAheadBytes = 1024 * 1024;

/**
 * Yields what has arrived, and reads on while the consumer stores it. Ends with the connection, or
 * with what was read before `closing` is aborted.
 * @param held when it has no room, a connection is ahead by a single read
 * @throws Error if the connection breaks, after what has arrived
 */
export async function* readAhead(
  socket: Socket,
  closing: AbortSignal,
  held: HeldBytes,
): AsyncGenerator<Buffer, void> {
  let arrived: Buffer[] = [];
  let bytes = 0;
  let isOver = closing.aborted;
  let wake = () => {};
  const take = (chunk: Buffer) => {
    arrived.push(chunk);
    bytes += chunk.length;
    if (!held.hold(bytes) || bytes >= maxAheadBytes) socket.pause();
    wake();
  };
  const finish = () => {
    isOver = true;
    wake();
  };
  socket.on('data', take).on('end', finish).on('close', finish);
  closing.addEventListener('abort', finish);
  try {
    while (arrived.length > 0 || !isOver) {
      if (closing.aborted) socket.pause();
      else socket.resume();
      if (arrived.length === 0) {
        await new Promise<void>((resolve) => (wake = resolve));
        continue;
      }
      const chunk = arrived.length === 1 ? arrived[0]! : Buffer.concat(arrived, bytes);
      arrived = [];
      bytes = 0;
      held.release();
      yield chunk;
    }
    if (!closing.aborted && !socket.readableEnded) throw new Error('the connection broke');
  } finally {
    socket.off('data', take).off('end', finish).off('close', finish);
    closing.removeEventListener('abort', finish);
    held.release();
  }
}
