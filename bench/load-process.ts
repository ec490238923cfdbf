/**
 * The load generator, a separate process: each connection sends a prepared request, waits for its
 * response and sends the next, at most at the rate set by the parent. Kept cheap, since it shares
 * the machine with what it measures.
 */
import {
  createSources,
  headersOf,
  type LoadForm,
  type LoadShape,
  type Source,
} from './load-bodies.ts';
import { openGrpcWire } from './load-grpc.ts';
import { openHttpWire } from './load-http.ts';
import { openSocketWire } from './load-sockets.ts';

export interface LoadTask extends LoadShape {
  readonly ca: string;
  /** The receiver's URL; for gRPC the port's URL. */
  readonly url: string;
  readonly token: string;
}

/** Parent to load: the rate in events/s from now on; 0 pauses, Infinity removes the limit. */
export interface LoadOrder {
  readonly eventsPerSecond: number;
}

/**
 * Load to parent, several times a second once all connections are open: totals, and latencies since
 * the last report.
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
  let opening = task.connections;
  const opened = () => {
    opening -= 1;
    if (opening === 0) setInterval(report, reportEveryMs);
  };
  for (const source of createSources(task)) openSender(task, source, opened);
  process.on('message', (order: LoadOrder) => {
    rate = order.eventsPerSecond;
    grant();
  });
  setInterval(grant, 5);
}

function report(): void {
  const message: LoadReport = { events, bytes, refused, latenciesMs: latencies };
  latencies = [];
  // EPIPE: the parent has disconnected.
  process.send?.(message, undefined, undefined, () => {});
}

/** Adds the credit of the elapsed time, at most 50 ms of it, and resumes waiting connections. */
function grant(): void {
  const now = performance.now();
  credit = Math.min(credit + (rate * (now - creditAt)) / 1000, Math.max(rate / 20, 1));
  creditAt = now;
  const ready = waiting;
  waiting = [];
  for (const proceed of ready) proceed();
}

function wireOf(form: LoadForm): typeof openHttpWire {
  if (form === 'otlp_grpc') return openGrpcWire;
  if (form === 'syslog' || form === 'statsd') return openSocketWire(false);
  return form === 'forward' ? openSocketWire(true) : openHttpWire;
}

function openSender(task: LoadTask, nextBody: Source, onOpen: () => void): void {
  const target = { ...task, headers: headersOf(task.form) };
  const openWire = wireOf(task.form);
  const next = () => {
    if (credit <= 0) {
      waiting.push(next);
      return;
    }
    const body = nextBody();
    credit -= body.events;
    const sentAt = performance.now();
    wire.send(body, (isTaken) => {
      latencies.push(performance.now() - sentAt);
      if (isTaken) {
        events += body.events;
        bytes += body.bytes.length;
      } else {
        refused++;
      }
      next();
    });
  };
  const wire = openWire(target, () => {
    onOpen();
    next();
  });
}
