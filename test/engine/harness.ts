/** A real engine on a temporary directory, and its clients. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, type IncomingMessage, type RequestOptions, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import type { EngineOptions } from '../../src/engine/options.ts';
import { type Engine, openEngine } from '../../src/engine/supervisor.ts';
import { createEngineEvents } from '../../src/telemetry/store-events.ts';
import { createInstruments } from '../../src/telemetry/instruments.ts';

export interface TestEngine {
  readonly engine: Engine;
  readonly dataDir: string;
  readonly client: ClickHouseClient;
}

/** The context of a test or of a file. */
export interface Cleanup {
  after(work: () => Promise<void> | void): void;
}

/** Starts an engine; it is closed and its directory removed when the test ends. */
export async function openTestEngine(
  t: Cleanup,
  options: Partial<EngineOptions> = {},
  events = silentEvents(),
): Promise<TestEngine> {
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'weir-engine-')));
  const engine = await openEngine({ ...options, dataDir }, events);
  const client = clientOf(engine.socketPath);
  t.after(async () => {
    await client.close();
    await engine.close();
    await rm(dataDir, { recursive: true, force: true });
  });
  return { engine, dataDir, client };
}

/** Runs until it is killed or out of time. */
export const endless = 'SELECT sum(sipHash64(number)) FROM numbers(10000000000000)';

export function silentEvents() {
  return createEngineEvents(createInstruments('silent'));
}

export async function temporaryFolder(t: Cleanup): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-engine-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

export function clientOf(socketPath: string): ClickHouseClient {
  return createClient({
    url: 'http://localhost',
    http_agent: new Agent({ keepAlive: true, socketPath } as object),
    log: { level: ClickHouseLogLevel.OFF },
    // Above the limits of the engine, which answers at its own.
    request_timeout: 600_000,
  });
}

export async function rowsOf<Row>(client: ClickHouseClient, query: string): Promise<Row[]> {
  const answer = await client.query({ query, format: 'JSONEachRow' });
  return answer.json<Row>();
}

export async function countOf(client: ClickHouseClient, table: string): Promise<number> {
  const [row] = await rowsOf<{ n: string | number }>(client, `SELECT count() AS n FROM ${table}`);
  return Number(row?.n);
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

/** A raw request. @throws Error if the connection breaks */
export async function rawRequest(
  socketPath: string,
  options: RequestOptions,
  body: string | Buffer = '',
): Promise<RawAnswer> {
  const sent = request({ socketPath, method: 'POST', agent: false, ...options });
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  const { statusCode = 0, headers } = response;
  return { status: statusCode, headers, body: Buffer.concat(chunks) };
}

/** Polls until the condition is true; the test runner's timeout applies. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await delay(20);
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const stat = `/proc/${pid}/stat`;
  // A zombie counts as dead.
  return !(existsSync(stat) && readFileSync(stat, 'utf8').includes(') Z '));
}

export interface OtherProcess {
  readonly child: ChildProcess;
  /** Its first message: an engine or an error. */
  readonly said: { readonly pid?: number; readonly socketPath?: string; readonly error?: string };
}

/** Opens an engine in another process. */
export async function openInOtherProcess(
  t: Cleanup,
  dataDir: string,
  cwd = process.cwd(),
): Promise<OtherProcess> {
  const script = fileURLToPath(new URL('./open-engine.ts', import.meta.url));
  const child = spawn(process.execPath, [script, dataDir], {
    cwd,
    env: { ...process.env, HOME: cwd },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  t.after(() => {
    child.kill('SIGKILL');
  });
  const lines = createInterface({ input: child.stdout });
  const [line] = (await once(lines, 'line')) as [string];
  return { child, said: JSON.parse(line) as OtherProcess['said'] };
}
