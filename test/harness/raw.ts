/** Bytes to a TLS socket and what comes back: for requests that no HTTP client would send. */
import { readFileSync } from 'node:fs';
import { connect } from 'node:tls';
import type { Service } from './service.ts';

export interface RawExchange {
  /** Everything to send at first, as it stands. */
  readonly send: string | Uint8Array;
  /** True once enough was received; default: the first head is complete. */
  readonly isEnough?: (received: string) => boolean;
  readonly timeoutMs?: number;
}

/**
 * @returns what the server sent until there was enough or it closed
 * @throws Error when neither happened in time
 */
export function exchangeRaw(service: Service, exchange: RawExchange): Promise<string> {
  const { send, isEnough = (text) => text.includes('\r\n\r\n'), timeoutMs = 20_000 } = exchange;
  const { ingestUrl, caFile } = service.quickstart;
  const { hostname, port } = new URL(ingestUrl);
  return new Promise((resolve, reject) => {
    const socket = connect({
      host: hostname,
      port: Number(port),
      ca: readFileSync(caFile),
      servername: 'localhost',
    });
    let received = '';
    const finish = () => {
      clearTimeout(timer);
      socket.destroy();
      resolve(received);
    };
    const timer = setTimeout(() => {
      socket.destroy();
      reject(new Error(`waited ${timeoutMs} ms for an answer, got ${JSON.stringify(received)}`));
    }, timeoutMs);
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString('latin1');
      if (isEnough(received)) finish();
    });
    // A reset after the answer is the server's right: what was received before decides.
    socket.on('error', finish);
    socket.on('close', finish);
    socket.once('secureConnect', () => socket.write(send));
  });
}

/** Status of the first answer in `received`; 0 where there is none. */
export function statusOf(received: string): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(received)?.[1] ?? 0);
}
