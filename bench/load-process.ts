/**
 * The load generator, a process of its own: keep-alive TLS sockets that each write a ready request,
 * wait for its answer and write the next one, no faster than the rate its parent sets. It is kept
 * cheap, since it shares the machine with what it measures.
 */
import { connect, type TLSSocket } from 'node:tls';
import { createCorpus, stampBody, type Body } from './corpus.ts';

export interface LoadTask {
  readonly seed: number;
  readonly ca: string;
  /** The receiver's URL. */
  readonly url: string;
  readonly token: string;
  readonly connections: number;
  readonly bodies: number;
  readonly eventsPerBody: number;
}

/** From parent to load: the rate in events/s from now on; 0 pauses, Infinity lets go. */
export interface LoadOrder {
  readonly eventsPerSecond: number;
}

/**
 * From load to parent, several times a second: totals since the start, and the latencies since the
 * last report.
 */
export interface LoadReport {
  readonly events: number;
  readonly bytes: number;
  readonly refused: number;
  readonly latenciesMs: readonly number[];
}

const reportEveryMs = 200;
let latencies: number[] = [];
let events = 0;
let bytes = 0;
let refused = 0;
let rate = 0;
let credit = 0;
let creditAt = performance.now();
let waiting: (() => void)[] = [];

process.once('message', (task: LoadTask) => start(task));
process.once('disconnect', () => process.exit(0));

function start(task: LoadTask): void {
  const corpus = createCorpus(task.seed, task.bodies, task.eventsPerBody);
  const share = Math.floor(corpus.bodies.length / task.connections);
  for (let index = 0; index < task.connections; index++) {
    openSender(task, corpus.bodies.slice(index * share, (index + 1) * share));
  }
  process.on('message', (order: LoadOrder) => {
    rate = order.eventsPerSecond;
    grant();
  });
  setInterval(grant, 5);
  setInterval(report, reportEveryMs);
}

function report(): void {
  const message: LoadReport = { events, bytes, refused, latenciesMs: latencies };
  latencies = [];
  process.send?.(message);
}

/**
 * Adds the credit of the time gone by, at most a twentieth of a second of it, and wakes who waits
 * for it.
 */
function grant(): void {
  const now = performance.now();
  credit = Math.min(credit + (rate * (now - creditAt)) / 1000, Math.max(rate / 20, 1));
  creditAt = now;
  const ready = waiting;
  waiting = [];
  for (const proceed of ready) proceed();
}

function openSender(task: LoadTask, bodies: readonly Body[]): void {
  const url = new URL(task.url);
  const heads = bodies.map((body) => toHead(task, url, body));
  const socket = connect({ host: url.hostname, port: Number(url.port), ca: task.ca });
  let turn = 0;
  let sentAt = 0;
  const next = () => {
    const body = bodies[turn % bodies.length];
    const head = heads[turn % bodies.length];
    if (body === undefined || head === undefined) throw new Error('a sender needs a body');
    if (credit <= 0) {
      waiting.push(next);
      return;
    }
    credit -= body.events;
    turn++;
    stampBody(body, Date.now());
    sentAt = performance.now();
    socket.cork();
    socket.write(head);
    socket.write(body.bytes);
    socket.uncork();
  };
  readAnswers(socket, (status) => {
    latencies.push(performance.now() - sentAt);
    const body = bodies[(turn - 1) % bodies.length];
    if (status === '202') {
      events += body?.events ?? 0;
      bytes += body?.bytes.length ?? 0;
    } else {
      refused++;
    }
    next();
  });
  socket.once('secureConnect', next);
  socket.on('error', (error) => {
    throw error;
  });
}

function toHead(task: LoadTask, url: URL, body: Body): Buffer {
  const lines = [
    `POST ${url.pathname} HTTP/1.1`,
    `Host: ${url.host}`,
    `Authorization: Bearer ${task.token}`,
    'Content-Type: application/json',
    `Content-Length: ${body.bytes.length}`,
  ];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`);
}

/** Calls back with the status of each answer, once its last byte is here. */
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
