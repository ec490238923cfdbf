/**
 * Weir as a black box: the real process with a new data directory and free ports, and typed calls
 * of a sender, a reader and an operator. An unexpected error in the log fails the test at `stop`.
 * With `WEIR_TEST_SET=scaled` the scaled-out set runs instead.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { LogRecord } from '../../src/model/plan.ts';
import { createHttpClient, sendPlain, type Answer, type HttpClient } from './http.ts';
import type { Quickstart } from './quickstart.ts';
import type { NodesOptions, ServiceNodes } from './service-nodes.ts';
import { openSingleNode } from './single-node.ts';
import { until } from './until.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { lastLines } from './weir-node.ts';
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
  /** False for a service that cannot become ready; default true. */
  readonly isReadyExpected?: boolean;
  /** Expected log messages of level error or above. */
  readonly expectedErrors?: readonly RegExp[];
}

const errorLevel = 50;

/** Whether the tests run on the scaled-out set, whose directory and queue are on servers. */
export const isScaledSet = process.env['WEIR_TEST_SET'] === 'scaled';

/** Starts Weir on a new directory and resolves once it is ready. Close it with `stop`. */
export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const nodes = await openNodes(options);
  const service = new Service(nodes, options);
  try {
    await service.start();
    return service;
  } catch (error) {
    // Processes that already run would keep the test alive.
    await nodes.remove();
    throw error;
  }
}

/** Dynamic import: most tests do not need it. */
const scaledNodes = new URL('../scaled/scaled-nodes.ts', import.meta.url).href;

interface ScaledNodes {
  openScaledNodes(options: NodesOptions): Promise<ServiceNodes>;
}

async function openNodes(options: ServiceOptions): Promise<ServiceNodes> {
  if (!isScaledSet) return openSingleNode(options, temporaryFolder());
  const { openScaledNodes } = (await import(scaledNodes)) as ScaledNodes;
  return openScaledNodes(options);
}

export class Service {
  readonly #nodes: ServiceNodes;
  readonly #options: ServiceOptions;
  #quickstart: Quickstart | undefined;
  #http: HttpClient | undefined;

  /** @param place a set of nodes, or the data directory of a single process */
  constructor(place: ServiceNodes | string, options: ServiceOptions) {
    this.#nodes = typeof place === 'string' ? openSingleNode(options, place) : place;
    this.#options = options;
  }

  get dataDir(): string {
    return this.#nodes.dataDir;
  }

  /** Settings for a command on the data directory. */
  get env(): Readonly<Record<string, string>> {
    return this.#nodes.env;
  }

  get process(): WeirProcess {
    return this.#nodes.process;
  }

  get quickstart(): Quickstart {
    assert.ok(this.#quickstart, 'the service was never ready');
    return this.#quickstart;
  }

  get http(): HttpClient {
    assert.ok(this.#http, 'the service was never ready');
    return this.#http;
  }

  /** Child processes of the gateway. */
  enginePids(): number[] {
    return this.#nodes.enginePids();
  }

  /** Starts on the same directory, on free or reused ports; resolves once ready. */
  async start(): Promise<void> {
    const quickstart = await this.#nodes.start();
    this.#quickstart = quickstart;
    this.#http?.close();
    this.#http = createHttpClient(readFileSync(quickstart.caFile, 'utf8'));
    if (this.#options.isReadyExpected === false) return;
    await until(() => this.isReady(), { what: '/readyz to be 200', timeoutMs: 120_000 });
  }

  /** Starts without waiting. */
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

  /** Stops gracefully, checks exit status and log, and deletes the directory. */
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

  /** GET on the stream port with the first run's access token. @param path such as `/logs` */
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

  /** Calls the control API. @param path such as `/receivers` */
  admin(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    const { streamUrl, accessToken, accountId } = this.quickstart;
    return this.http.send(`${streamUrl}/api/v1/admin${path}`, {
      method,
      headers: {
        ...headers,
        authorization: `Bearer ${accessToken}`,
        'x-active-account': accountId,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  /** Sum of one of Weir's own metrics over its labels; undefined if absent. */
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
