/** Clients that have no types, as far as tests use them. */
declare module 'winston-log2gelf' {
  import type { EventEmitter } from 'node:events';
  export default class Log2gelf extends EventEmitter {
    constructor(options: object);
    log(info: object, done: () => void): void;
  }
}

declare module 'splunk-logging' {
  interface Context {
    readonly message: unknown;
    readonly severity?: string;
    readonly metadata?: object;
  }
  export class Logger {
    constructor(config: object);
    requestOptions: Record<string, unknown>;
    eventFormatter: (message: unknown, severity: string) => unknown;
    send(context: Context, done: (error: unknown, answer: unknown, body: unknown) => void): void;
    flush(done: (error: unknown, answer: unknown, body: unknown) => void): void;
  }
}

declare module 'node-statsd' {
  import type { Socket } from 'node:dgram';
  export class StatsD {
    constructor(options: object);
    readonly socket: Socket;
    increment(name: string, value?: number, sampleRate?: number, tags?: readonly string[]): void;
    decrement(name: string): void;
    gauge(name: string, value: number): void;
    timing(name: string, ms: number): void;
    histogram(name: string, value: number): void;
    unique(name: string, value: string): void;
    close(): void;
  }
}
