/**
 * Weir as a black box: the real process on a directory of its own and free ports, with typed calls
 * for what a sender, a reader and an operator do. A run that logs an error which its test did not
 * announce fails when it is stopped.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LogRecord } from '../../src/model/plan.ts';
import { createHttpClient, sendPlain, type Answer, type HttpClient } from './http.ts';
import type { Quickstart } from './quickstart.ts';
import { until } from './until.ts';
import { childrenOf, startWeir, type Exit, type WeirProcess } from './weir-process.ts';

export interface Cursor {
  readonly timestamp: string;
  readonly logId: string;
}

export interface LogPage {
  readonly logs: readonly LogRecord[];
  readonly cursor: Cursor;
  readonly newest: Cursor;
}

export interface Histogram {
  readonly buckets: readonly { startTime: string; endTime: string; count: number }[];
  readonly total: number;
}

export interface Facet {
  readonly field: string;
  readonly values: readonly { value: string; count: number }[];
  readonly other: number;
  readonly total: number;
}

export type Parameters = Readonly<Record<string, string | number | readonly string[]>>;

export interface ServiceOptions {
  /** Further arguments of `weir serve`. */
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** False where the test makes a service that cannot be ready; default true. */
  readonly isReadyExpected?: boolean;
  /** True where later starts listen on the ports of the first, as senders expect; default false. */
  readonly arePortsKept?: boolean;
  /** Messages of level error or worse that this test provokes. */
  readonly expectedErrors?: readonly RegExp[];
}

const errorLevel = 50;

/** Starts Weir on a fresh directory and resolves once it is ready. Close it with `stop`. */
export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const dataDir = mkdtempSync(join(tmpdir(), 'weir-test-'));
  const service = new Service(dataDir, options);
  await service.start();
  return service;
}

export class Service {
  readonly dataDir: string;
  #options: ServiceOptions;
  #running: WeirProcess | undefined;
  /** Every process of this service so far, for their logs. */
  readonly #launched: WeirProcess[] = [];
  #quickstart: Quickstart | undefined;
  #http: HttpClient | undefined;

  constructor(dataDir: string, options: ServiceOptions) {
    this.dataDir = dataDir;
    this.#options = options;
  }

  get process(): WeirProcess {
    assert.ok(this.#running, 'the service is not running');
    return this.#running;
  }

  get quickstart(): Quickstart {
    assert.ok(this.#quickstart, 'the service has not been ready yet');
    return this.#quickstart;
  }

  get http(): HttpClient {
    assert.ok(this.#http, 'the service has not been ready yet');
    return this.#http;
  }

  /** Child processes of the gateway: the engine. */
  enginePids(): number[] {
    return childrenOf(this.process.pid);
  }

  /** Starts on the same directory, on free ports or the kept ones; resolves once it is ready. */
  async start(): Promise<void> {
    const before = this.#quickstartWritten();
    const running = this.launch();
    const quickstart = await until(() => this.#readQuickstart(running, before), {
      what: 'quickstart.json of this run',
      timeoutMs: 60_000,
    });
    this.#quickstart = quickstart;
    this.#http?.close();
    this.#http = createHttpClient(readFileSync(quickstart.caFile, 'utf8'));
    if (this.#options.isReadyExpected === false) return;
    await until(() => this.isReady(), { what: '/readyz to be 200', timeoutMs: 60_000 });
  }

  /** Starts the process and waits for nothing. */
  launch(): WeirProcess {
    const { flags = [], env } = this.#options;
    const args = ['serve', '--data', this.dataDir, ...this.#portFlags(), ...flags];
    const launched = startWeir(args, env);
    this.#running = launched;
    this.#launched.push(launched);
    return launched;
  }

  async isReady(): Promise<boolean> {
    const { opsUrl } = this.quickstart;
    const answer = await sendPlain(`${opsUrl}/readyz`).catch(() => undefined);
    return answer?.status === 200;
  }

  kill(signal: NodeJS.Signals): Promise<Exit> {
    this.process.kill(signal);
    return this.process.exited;
  }

  /** Ends the process in the orderly way, checks how it went, and deletes its directory. */
  async stop(): Promise<void> {
    const running = this.#running;
    try {
      if (running !== undefined && running.exit() === undefined) {
        running.kill('SIGTERM');
        const exit = await running.exited;
        assert.deepEqual(exit, { code: 0, signal: null }, `unclean exit:\n${tail(running)}`);
      }
      if (running !== undefined) this.assertNoUnexpectedErrors();
    } finally {
      this.#http?.close();
      if (running?.exit() === undefined) await this.kill('SIGKILL');
      rmSync(this.dataDir, { recursive: true, force: true });
    }
  }

  assertNoUnexpectedErrors(): void {
    const { expectedErrors = [] } = this.#options;
    const unexpected = this.#launched
      .flatMap(({ logs }) => logs)
      .filter(({ level, raw }) => level >= errorLevel && !expectedErrors.some((e) => e.test(raw)));
    assert.deepEqual(
      unexpected.map(({ raw }) => raw),
      [],
      'the service logged errors that no test announced',
    );
  }

  /** Posts events to the first run's JSON receiver. */
  postLogs(events: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    const { url, token } = this.quickstart.receivers.http_json;
    const body = typeof events === 'string' ? events : JSON.stringify(events);
    return this.http.send(url, {
      method: 'POST',
      body,
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        ...headers,
      },
    });
  }

  /** GET on the stream surface with the first run's access token. @param path such as `/logs` */
  read(path: string, parameters: Parameters = {}): Promise<Answer> {
    const { streamUrl, accessToken, accountId } = this.quickstart;
    return this.http.send(`${streamUrl}/api/v1${path}?${toQuery(parameters)}`, {
      headers: { authorization: `Bearer ${accessToken}`, 'x-active-account': accountId },
    });
  }

  list(parameters: Parameters = {}): Promise<LogPage> {
    return this.#readOk<LogPage>('/logs', parameters);
  }

  histogram(parameters: Parameters): Promise<Histogram> {
    return this.#readOk<Histogram>('/histogram', parameters);
  }

  facet(field: string, parameters: Parameters = {}): Promise<Facet> {
    return this.#readOk<Facet>('/facets', { field, ...parameters });
  }

  /** A call of the control API. @param path such as `/receivers` */
  admin(method: string, path: string, body?: unknown): Promise<Answer> {
    const { streamUrl, accessToken, accountId } = this.quickstart;
    return this.http.send(`${streamUrl}/api/v1/admin${path}`, {
      method,
      headers: {
        authorization: `Bearer ${accessToken}`,
        'x-active-account': accountId,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  /** Value of one of Weir's own metrics, summed over its labels; undefined where it is absent. */
  async metric(name: string): Promise<number | undefined> {
    const { text } = await sendPlain(`${this.quickstart.opsUrl}/metrics`);
    const values = text
      .split('\n')
      .filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
      .map((line) => Number(line.slice(line.lastIndexOf(' ') + 1)));
    return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0);
  }

  #portFlags(): string[] {
    const kept = this.#options.arePortsKept === true ? this.#quickstart : undefined;
    const portOf = (url: string | undefined) => (url === undefined ? '0' : new URL(url).port);
    const ports = {
      '--ingest-port': portOf(kept?.ingestUrl),
      '--stream-port': portOf(kept?.streamUrl),
      '--ops-port': portOf(kept?.opsUrl),
    };
    return Object.entries(ports).flat();
  }

  async #readOk<T>(path: string, parameters: Parameters): Promise<T> {
    const answer = await this.read(path, parameters);
    assert.equal(answer.status, 200, answer.text);
    return answer.json<T>();
  }

  #readQuickstart(running: WeirProcess, before: string): Quickstart | undefined {
    const exit = running.exit();
    if (exit !== undefined) {
      throw new Error(`weir ended with ${JSON.stringify(exit)}:\n${tail(running)}`);
    }
    if (this.#quickstartWritten() === before) return undefined;
    return JSON.parse(readFileSync(this.#quickstartFile, 'utf8')) as Quickstart;
  }

  /** Tells one writing of the file from another; it is replaced whole, by a rename. */
  #quickstartWritten(): string {
    const stat = statSync(this.#quickstartFile, { throwIfNoEntry: false });
    return stat === undefined ? 'never' : `${stat.ino} ${stat.mtimeMs}`;
  }

  get #quickstartFile(): string {
    return join(this.dataDir, 'quickstart.json');
  }
}

export function toQuery(parameters: Parameters): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    for (const one of Array.isArray(value) ? (value as readonly string[]) : [String(value)]) {
      query.append(name, one);
    }
  }
  return query.toString();
}

function tail({ logs }: WeirProcess): string {
  return logs
    .slice(-20)
    .map(({ raw }) => raw)
    .join('\n');
}
