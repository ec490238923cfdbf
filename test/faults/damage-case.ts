/**
 * Starts a service on a damaged data directory: whether it runs, what it logs, and which
 * acknowledged data is missing, duplicated or changed.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createHttpClient, sendPlain, type HttpClient } from '../harness/http.ts';
import { decodeReadResponse, encodeReadRequest, toNumber } from '../harness/prompb.ts';
import { until } from '../harness/until.ts';
import { startWeir, type WeirProcess } from '../harness/weir-process.ts';
import { compressSync, uncompressSync } from 'snappy';
import { controlPaths, type DataFolder, readControlLists, serveFlags } from './data-folder.ts';

export interface CaseResult {
  /** Exit code when the start was refused. */
  readonly refused?: number | null;
  /** Log messages of level warn or above, metrics of damage, the text of a refusal. */
  readonly said: readonly string[];
  /** Differences from the acknowledged data, one sentence each. */
  readonly wrong: readonly string[];
}

const warnLevel = 40;
const readyMs = 40_000;
const damageMetrics =
  /^weir_(?:queue_lost|queue_damage|store_damaged|store_corruption)\S* [1-9]\d*$/gm;

/** @param dataDir a damaged copy of `folder` @param flags additional flags of `weir serve` */
export async function runCase(
  folder: DataFolder,
  dataDir: string,
  flags: readonly string[] = [],
): Promise<CaseResult> {
  const ports = ['--ingest-port', '0', '--stream-port', '0', '--ops-port', '0'];
  const running = startWeir(['serve', '--data', dataDir, ...ports, ...serveFlags, ...flags]);
  try {
    const isUp = async () => running.exit() !== undefined || (await isReady(running));
    await until(isUp, { what: 'a service that is ready', timeoutMs: readyMs, everyMs: 100 });
    const exit = running.exit();
    if (exit !== undefined) return { refused: exit.code, said: wordsOf(running), wrong: [] };
    return await look(folder, dataDir, running);
  } catch (error) {
    return { said: wordsOf(running), wrong: [String(error)] };
  } finally {
    running.kill('SIGKILL');
    await running.exited;
  }
}

function wordsOf({ logs }: WeirProcess): string[] {
  const lines = logs.filter(({ level }) => level === 0 || level >= warnLevel);
  return [
    ...new Set(lines.map(({ level, msg, raw }) => (level === 0 ? raw : toSentence(msg, raw)))),
  ];
}

/** The message with its path or reason. */
function toSentence(msg: string, raw: string): string {
  const line = JSON.parse(raw) as Record<string, string> & { err?: { message?: string } };
  const { path, file, reason, error, err } = line;
  const more = path ?? file ?? reason ?? error ?? err?.message;
  return more === undefined ? msg : `${msg} (${more.slice(0, 200)})`;
}

/** Undefined until the service has written its addresses. */
function addressOf(running: WeirProcess, name: 'send' | 'read' | 'metrics'): string | undefined {
  return new RegExp(`^  ${name}\\s+(https?://[^\\s/]+)`, 'm').exec(running.stdout())?.[1];
}

async function isReady(running: WeirProcess): Promise<boolean> {
  const ops = addressOf(running, 'metrics');
  if (ops === undefined) return false;
  const answer = await sendPlain(`${ops}/readyz`).catch(() => undefined);
  return answer?.status === 200;
}

async function look(
  folder: DataFolder,
  dataDir: string,
  running: WeirProcess,
): Promise<CaseResult> {
  const ops = addressOf(running, 'metrics') ?? '';
  const metrics = async () => (await sendPlain(`${ops}/metrics`)).text;
  const isSettled = async () => {
    const text = await metrics();
    return ['weir_queue_batches 0', 'weir_store_unscrubbed_parts 0'].every((line) =>
      text.includes(`\n${line}\n`),
    );
  };
  const http = createHttpClient(readFileSync(join(dataDir, 'tls/ca.pem'), 'utf8'));
  const wrong: string[] = [];
  try {
    const settle = () =>
      until(isSettled, { what: 'queue and scrub to settle', everyMs: 100 }).catch(
        (error: unknown) => wrong.push(String(error)),
      );
    await settle();
    const [send = '', read = ''] = [addressOf(running, 'send'), addressOf(running, 'read')];
    const service = { folder, http, send, read };
    wrong.push(...(await checkRepeat(service).catch((error: unknown) => [String(error)])));
    await settle();
    for (const check of [checkControl, checkLogs, checkCounts, checkSamples]) {
      wrong.push(...(await check(service).catch((error: unknown) => [String(error)])));
    }
    const found = [...(await metrics()).matchAll(damageMetrics)].map(([line]) => line);
    return { said: [...wordsOf(running), ...found], wrong };
  } finally {
    http.close();
  }
}

interface Running {
  readonly folder: DataFolder;
  readonly http: HttpClient;
  readonly send: string;
  readonly read: string;
}

/** A retry with the same key must not be stored twice; the other checks would find it. */
async function checkRepeat({ folder, http, send }: Running): Promise<string[]> {
  if (folder.keyed === undefined) return [];
  const { receiverId, token } = folder.quickstart.receivers.http_json;
  const answer = await http.send(`${send}/v1/receivers/${receiverId}/logs`, {
    method: 'POST',
    body: folder.keyed.body,
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'idempotency-key': folder.keyed.key,
    },
  });
  return answer.status === 202 ? [] : [`a repeated request got ${answer.status}: ${answer.text}`];
}

async function getJson<T>({ folder, http, read }: Running, path: string): Promise<T> {
  const { accessToken, accountId } = folder.quickstart;
  const answer = await http.send(`${read}/api/v1${path}`, {
    headers: { authorization: `Bearer ${accessToken}`, 'x-active-account': accountId },
  });
  if (answer.status !== 200) throw new Error(`${path} got ${answer.status}: ${answer.text}`);
  return answer.json<T>();
}

async function checkControl(running: Running): Promise<string[]> {
  const lists = await readControlLists((path) => getJson(running, `/admin${path}`));
  return controlPaths.flatMap((name) => {
    const found = lists[name].map((item) => toFields(item));
    const lost = running.folder.control[name].filter((item) => {
      const fields = toFields(item);
      // In the copy of the folder.
      fields.delete('caFile');
      // Newer versions list more fields.
      return !found.some((other) => [...fields].every(([key, value]) => other.get(key) === value));
    });
    return sentences({ 'lost or changed': lost.length }, name);
  });
}

function toFields(json: string): Map<string, string> {
  const fields = Object.entries(JSON.parse(json) as object);
  return new Map(fields.map(([name, value]) => [name, JSON.stringify(value)]));
}

async function checkLogs(running: Running): Promise<string[]> {
  const { folder } = running;
  const stored = new Map<string, number>();
  for (let cursor = ''; ; ) {
    const page = await getJson<{
      logs: { message: string; labels: { prefix: string } }[];
      cursor: { timestamp: string; logId: string };
    }>(running, `/logs?limit=200${cursor}`);
    if (page.logs.length === 0) break;
    for (const { message, labels } of page.logs) {
      const isWhole = message.startsWith(`${labels.prefix} `);
      const name = isWhole ? message : `changed: ${message}`;
      stored.set(name, (stored.get(name) ?? 0) + 1);
    }
    cursor = `&cursor=${page.cursor.timestamp},${page.cursor.logId}`;
  }
  const lost = [...folder.messages].filter((message) => !stored.has(message)).length;
  const changed = [...stored.keys()].filter((name) => !folder.messages.has(name)).length;
  const doubled = [...stored.values()].filter((count) => count > 1).length;
  return sentences({ lost, changed, doubled }, 'logs');
}

async function checkCounts(running: Running): Promise<string[]> {
  const { createdAtMs } = running.folder;
  const timeOf = (hours: number) => new Date(createdAtMs + hours * 3_600_000).toISOString();
  const range = `startTime=${timeOf(-1)}&endTime=${timeOf(1)}`;
  const histogram = await getJson<{ total: number }>(running, `/histogram?${range}&buckets=10`);
  const facet = await getJson<{ total: number }>(running, `/facets?field=severity&${range}`);
  const expected = running.folder.messages.size;
  return Object.entries({ histogram: histogram.total, facets: facet.total })
    .filter(([, total]) => total !== expected)
    .map(([name, total]) => `${name} count ${total} of ${expected} logs`);
}

async function checkSamples({ folder, http, read }: Running): Promise<string[]> {
  const { accessToken, accountId } = folder.quickstart;
  const matchers = [{ name: 'at', type: '=', value: 'x' }] as const;
  const query = encodeReadRequest([{ matchers, fromMs: 0, untilMs: 4_102_444_800_000 }]);
  const answer = await http.send(`${read}/api/v1/prometheus/api/v1/read`, {
    method: 'POST',
    body: compressSync(query),
    headers: {
      authorization: `Bearer ${accessToken}`,
      'x-active-account': accountId,
      'content-type': 'application/x-protobuf',
      'content-encoding': 'snappy',
    },
  });
  if (answer.status !== 200) return [`remote_read got ${answer.status}: ${answer.text}`];
  const [series = []] = decodeReadResponse(Buffer.from(uncompressSync(answer.bytes) as Buffer));
  const values = new Map(
    series.map(({ labels, samples }) => [
      labels['__name__'] ?? '',
      samples.map(({ bits }) => toNumber(bits)),
    ]),
  );
  const isAbsent = (name: string) => values.get(name) === undefined;
  const lost = [...folder.samples.keys()].filter(isAbsent).length;
  const changed = [...values].filter(
    ([name, [value, ...more]]) => more.length > 0 || value !== folder.samples.get(name),
  ).length;
  return sentences({ lost, changed }, 'series');
}

function sentences(counts: Readonly<Record<string, number>>, noun: string): string[] {
  return Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([what, count]) => `${count} ${noun} ${what}`);
}
