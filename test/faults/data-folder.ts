/**
 * A data directory with all kinds of content: stored logs and samples, queued batches, idempotency
 * keys, and changes of the directory. The processes were killed. Copies of it are damaged and
 * started.
 */
import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { pushText } from '../harness/metrics.ts';
import type { Quickstart } from '../harness/quickstart.ts';
import { Service } from '../harness/service.ts';
import { until } from '../harness/until.ts';

export interface DataFolder {
  readonly path: string;
  /** Unix ms; time of all events. */
  readonly createdAtMs: number;
  readonly quickstart: Quickstart;
  /** Messages of all acknowledged logs. */
  readonly messages: ReadonlySet<string>;
  /** Name and value of all acknowledged samples. */
  readonly samples: ReadonlyMap<string, number>;
  /** Receivers and tokens as the control API lists them. */
  readonly control: ControlLists;
  /** An acknowledged request that is still queued; its key is valid for a day. */
  readonly keyed?: { readonly key: string; readonly body: string };
}

export type ControlLists = Readonly<Record<(typeof controlPaths)[number], readonly string[]>>;

export const controlPaths = ['accounts', 'streams', 'receivers', 'tokens'] as const;

/** Minimum segment size, so that three segments are queued. */
export const serveFlags = ['--queue-segment-bytes', String(2 ** 20)];

const storedLogs = 300;
const queuedRequests = 7;
const logsPerRequest = 100;
/** Each request fills nearly half a segment. */
const padding = 'x'.repeat(4_000);

/** @param folder is created */
export async function createDataFolder(folder: string): Promise<DataFolder> {
  const service = new Service(folder, { flags: serveFlags });
  await service.start();
  const createdAtMs = Date.now();
  // Data of a fixture must not expire.
  const retention = { retentionDays: 3_650 };
  const { streamId } = service.quickstart;
  assert.equal((await service.admin('PATCH', `/streams/${streamId}`, retention)).status, 200);
  const messages = new Set<string>();
  const samples = new Map<string, number>();
  const post = async (prefix: string, count: number, key: string, tail = '') => {
    const names = Array.from({ length: count }, (_, index) => `${prefix} ${index} ${tail}`);
    const body = JSON.stringify(names.map((message) => ({ message, labels: { prefix } })));
    const answer = await service.postLogs(body, { 'idempotency-key': key });
    assert.equal(answer.status, 202, answer.text);
    for (const name of names) messages.add(name);
    return { key, body };
  };
  await post('stored', storedLogs, 'stored-1');
  for (let name = 0; name < 20; name++) {
    const answer = await pushText(service, `fault_${name}{at="x"} ${name}\n`);
    assert.ok(answer.status < 300, answer.text);
    samples.set(`fault_${name}`, name);
  }
  const isStored = async () => (await service.metric('weir_queue_batches')) === 0;
  await until(isStored, { what: 'the first events to be stored' });
  const access = { type: 'access', name: 'faults', scopes: ['logs:read'] };
  assert.equal((await service.admin('POST', '/tokens', access)).status, 201);
  const control = await readControlLists(async (path) => {
    return (await service.admin('GET', path)).json();
  });
  for (const pid of service.enginePids()) process.kill(pid, 'SIGSTOP');
  const enginePids = service.enginePids();
  let keyed = { key: '', body: '' };
  for (let index = 0; index < queuedRequests; index++) {
    keyed = await post(`queued ${index}`, logsPerRequest, `queued-${index}`, padding);
  }
  await service.kill('SIGKILL');
  for (const pid of enginePids) process.kill(pid, 'SIGKILL');
  return {
    path: folder,
    createdAtMs,
    quickstart: service.quickstart,
    messages,
    samples,
    control,
    keyed,
  };
}

/** Times of last use, and addresses with ports. */
const volatile = /^last|url$|^grpc$/i;

/** One text per item, without values that vary between runs. */
export async function readControlLists(
  get: (path: string) => Promise<unknown>,
): Promise<ControlLists> {
  const listOf = async (name: string) => {
    const answer = (await get(`/${name}`)) as Record<string, readonly object[]>;
    return (answer[name] ?? []).map((item) =>
      JSON.stringify(item, (key, value: unknown) => (volatile.test(key) ? undefined : value)),
    );
  };
  const lists = await Promise.all(controlPaths.map(async (name) => [name, await listOf(name)]));
  return Object.fromEntries(lists) as ControlLists;
}

/** @returns path of a copy */
export function copyDataFolder(folder: DataFolder, into: string, name: string): string {
  const copy = join(into, name);
  cpSync(folder.path, copy, { recursive: true, verbatimSymlinks: true });
  return copy;
}
