/**
 * Weir as a black box: the real process on a directory of its own and free ports, with typed calls
 * for what a sender, a reader and an operator do. A run that logs an error which its test did not
 * announce fails when it is stopped. `WEIR_TEST_SET=scaled` in the environment of the tests puts
 * the scaled-out set in the process's place.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { LogRecord } from '../../src/model/plan.ts';
import { createHttpClient, sendPlain, type Answer, type HttpClient } from './http.ts';
import type { Quickstart } from './quickstart.ts';
import type { NodesOptions, ServiceNodes } from './service-nodes.ts';
import { openSingleNode } from './single-node.ts';
import { until } from './until.ts';
import { lastLines, newDataDir } from './weir-node.ts';
import type { Exit, WeirProcess } from './weir-process.ts';

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

export interface ServiceOptions extends NodesOptions {
  /** False where the test makes a service that cannot be ready; default true. */
  readonly isReadyExpected?: boolean;
  /** Messages of level error or worse that this test provokes. */
  readonly expectedErrors?: readonly RegExp[];
}

const errorLevel = 50;

/** Whether tests run on the scaled-out set, which has no directory and no queue in its files. */
export const isScaledSet = process.env['WEIR_TEST_SET'] === 'scaled';

/** Starts Weir on a fresh directory and resolves once it is ready. Close it with `stop`. */
export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const nodes = await openNodes(options);
  const service = new Service(nodes, options);
  try {
    await service.start();
    return service;
  } catch (error) {
    // What runs already would keep the test from ending.
    await nodes.remove();
    throw error;
  }
}

/** Loaded by its address: most tests need none of it, and some see no types of Node's. */
const scaledNodes = new URL('../scaled/scaled-nodes.ts', import.meta.url).href;

interface ScaledNodes {
  openScaledNodes(options: NodesOptions): Promise<ServiceNodes>;
}

async function openNodes(options: ServiceOptions): Promise<ServiceNodes> {
  if (!isScaledSet) return openSingleNode(options, newDataDir());
  const { openScaledNodes } = (await import(scaledNodes)) as ScaledNodes;
  return openScaledNodes(options);
}

export class Service {
  readonly #nodes: ServiceNodes;
  readonly #options: ServiceOptions;
  #quickstart: Quickstart | undefined;
  #http: HttpClient | undefined;

  /** @param place what runs it, or the data directory of a process that is everything */
  constructor(place: ServiceNodes | string, options: ServiceOptions) {
    this.#nodes = typeof place === 'string' ? openSingleNode(options, place) : place;
    this.#options = options;
  }

  get dataDir(): string {
    return this.#nodes.dataDir;
  }

  /** Of a command on the data directory. */
  get env(): Readonly<Record<string, string>> {
    return this.#nodes.env;
  }

  get process(): WeirProcess {
    return this.#nodes.process;
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
    return this.#nodes.enginePids();
  }

  /** Starts on the same directory, on free ports or the kept ones; resolves once it is ready. */
  async start(): Promise<void> {
    const quickstart = await this.#nodes.start();
    this.#quickstart = quickstart;
    this.#http?.close();
    this.#http = createHttpClient(readFileSync(quickstart.caFile, 'utf8'));
    if (this.#options.isReadyExpected === false) return;
    await until(() => this.isReady(), { what: '/readyz to be 200', timeoutMs: 120_000 });
  }

  /** Starts the process and waits for nothing. */
  launch(): WeirProcess {
    return this.#nodes.launch();
  }

  async isReady(): Promise<boolean> {
    const { opsUrl } = this.quickstart;
    const answer = await sendPlain(`${opsUrl}/readyz`).catch(() => undefined);
    return answer?.status === 200;
  }

  kill(signal: NodeJS.Signals): Promise<Exit> {
    return this.#nodes.kill(signal);
  }

  /** Ends the process in the orderly way, checks how it went, and deletes its directory. */
  async stop(): Promise<void> {
    try {
      if (this.#nodes.isRunning()) {
        const exit = await this.kill('SIGTERM');
        const said = lastLines(this.process);
        assert.deepEqual(exit, { code: 0, signal: null }, `unclean exit:\n${said}`);
      }
      this.assertNoUnexpectedErrors();
    } finally {
      this.#http?.close();
      await this.#nodes.remove();
    }
  }

  assertNoUnexpectedErrors(): void {
    const { expectedErrors = [] } = this.#options;
    const unexpected = this.#nodes
      .launched()
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

  async #readOk<T>(path: string, parameters: Parameters): Promise<T> {
    const answer = await this.read(path, parameters);
    assert.equal(answer.status, 200, answer.text);
    return answer.json<T>();
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
