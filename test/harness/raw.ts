/** Raw bytes over TLS, for requests that no HTTP client sends. */
import { readFileSync } from 'node:fs';
import { connect } from 'node:tls';
import type { Service } from './service.ts';

/** Guards against a hang. */
const timeoutMs = 120_000;

export interface RawExchange {
  /** Sent first, unchanged. */
  readonly send: string | Uint8Array;
  /** True once enough is received; default: a complete response head. */
  readonly isEnough?: (received: string) => boolean;
}

/** @returns the bytes received until then or until the server closed @throws Error on a timeout */
export function exchangeRaw(service: Service, exchange: RawExchange): Promise<string> {
  const { send, isEnough = (text) => text.includes('\r\n\r\n') } = exchange;
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
    // The server may reset after its response: the received bytes decide.
    socket.on('error', finish);
    socket.on('close', finish);
    socket.once('secureConnect', () => socket.write(send));
  });
}

/** Status of the first response; 0 if there is none. */
export function statusOf(received: string): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(received)?.[1] ?? 0);
}
