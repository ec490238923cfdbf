/** A keep-alive TLS socket that writes prepared HTTP/1.1 requests and reads their statuses. */
import { connect, type TLSSocket } from 'node:tls';
import type { Sendable } from './load-bodies.ts';

export interface Wire {
  /** Calls back with success once the last byte of the response is read. */
  send(body: Sendable, onAnswer: (isTaken: boolean) => void): void;
}

export interface WireTarget {
  readonly ca: string;
  readonly url: string;
  readonly token: string;
  /** Header lines that describe the body. */
  readonly headers: readonly string[];
}

/** @param onOpen called once requests can be sent */
export function openHttpWire(target: WireTarget, onOpen: () => void): Wire {
  const url = new URL(target.url);
  const socket = connect({ host: url.hostname, port: Number(url.port), ca: target.ca });
  const lines = [
    `POST ${url.pathname} HTTP/1.1`,
    `Host: ${url.host}`,
    `Authorization: Bearer ${target.token}`,
    ...target.headers,
  ];
  const head = lines.join('\r\n');
  let answered: (isTaken: boolean) => void = () => {};
  readAnswers(socket, (status) => answered(status.startsWith('2')));
  socket.once('secureConnect', onOpen);
  socket.on('error', (error) => {
    throw error;
  });
  return {
    send({ bytes }, onAnswer) {
      answered = onAnswer;
      socket.cork();
      socket.write(`${head}\r\nContent-Length: ${bytes.length}\r\n\r\n`);
      socket.write(bytes);
      socket.uncork();
    },
  };
}

/** Calls back with the status once the last byte of the response is read. */
function readAnswers(socket: TLSSocket, onAnswer: (status: string) => void): void {
  let pending = '';
  socket.on('data', (chunk: Buffer) => {
    pending += chunk.toString('latin1');
    const headEnd = pending.indexOf('\r\n\r\n');
    if (headEnd === -1) return;
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(pending)?.[1] ?? 0);
    const end = headEnd + 4 + length;
    if (pending.length < end) return;
    const status = pending.slice(9, 12);
    pending = pending.slice(end);
    onAnswer(status);
  });
}
