/**
 * The process of well-behaved clients during a flood: a sender with a log every 20 ms and a reader,
 * on separate connections. Latency counts from when a request was due (no coordinated omission).
 */
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Quickstart } from '../harness/quickstart.ts';

export interface Waits {
  /** Milliseconds from due to answered, in order. */
  readonly latencies: readonly number[];
  /** By HTTP status; `lost` = broken connection. */
  readonly outcomes: Readonly<Record<string, number>>;
}

export interface Witness {
  readonly sender: Waits;
  readonly reader: Waits;
  /** Acknowledged messages. */
  readonly acknowledged: readonly string[];
}

export interface BystanderOrder {
  readonly quickstart: Quickstart;
  /** Local address of its connections. */
  readonly from: string;
  readonly name: string;
}

const everyMs = 20;
const readEveryMs = 200;
const connections = 16;

process.once('message', (order: BystanderOrder) => {
  const { quickstart } = order;
  const ca = readFileSync(quickstart.caFile);
  const stopping = new AbortController();
  const acknowledged: string[] = [];
  const ask = createAsking(ca, order.from);
  const { url, token } = quickstart.receivers.http_json;

  const send = async (index: number) => {
    const message = `${order.name} ${index}`;
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const outcome = await ask(url, { method: 'POST', headers }, JSON.stringify({ message }));
    if (outcome === '202') acknowledged.push(message);
    return outcome;
  };
  const read = () =>
    ask(`${quickstart.streamUrl}/api/v1/logs?limit=10`, {
      headers: {
        authorization: `Bearer ${quickstart.accessToken}`,
        'x-active-account': quickstart.accountId,
      },
    });
  const sending = keepTo(everyMs, stopping.signal, send);
  const reading = keepTo(readEveryMs, stopping.signal, read);
  process.once('message', () => {
    stopping.abort();
    void Promise.all([sending, reading]).then(([sender, reader]) => {
      const witness: Witness = { sender, reader, acknowledged };
      process.send?.(witness, () => process.exit(0));
    });
  });
});

/** Starts one call per interval, however long earlier ones take; none waits past the end. */
async function keepTo(
  ms: number,
  stop: AbortSignal,
  call: (index: number) => Promise<string>,
): Promise<Waits> {
  const latencies: number[] = [];
  const outcomes: Record<string, number> = {};
  const underWay = new Set<Promise<void>>();
  const startedAt = performance.now();
  for (let index = 0; !stop.aborted; index += 1) {
    const dueAt = startedAt + index * ms;
    const waitMs = dueAt - performance.now();
    if (waitMs > 0) await sleep(waitMs);
    const one = call(index).then((outcome) => {
      latencies.push(performance.now() - dueAt);
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    });
    underWay.add(one);
    void one.finally(() => underWay.delete(one));
  }
  await Promise.all(underWay);
  return { latencies, outcomes };
}

type Ask = (
  url: string,
  options: { readonly method?: string; readonly headers: Readonly<Record<string, string>> },
  body?: string,
) => Promise<string>;

/** Not retried: the sender's queue is not under test. */
function createAsking(ca: Buffer, from: string): Ask {
  const agent = new Agent({
    ca,
    keepAlive: true,
    maxSockets: connections,
    localAddress: from,
  });
  return (url, { method = 'GET', headers }, body) => {
    const { port, pathname, search } = new URL(url);
    const { promise, resolve } = Promise.withResolvers<string>();
    const asked = request({
      host: '127.0.0.1',
      servername: 'localhost',
      port,
      path: pathname + search,
      method,
      headers: {
        ...headers,
        ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }),
      },
      agent,
      localAddress: from,
    });
    asked.on('error', () => resolve('lost'));
    asked.on('response', (response) => {
      response.resume();
      response.on('end', () => resolve(String(response.statusCode)));
      response.on('error', () => resolve('lost'));
    });
    asked.end(body);
    return promise;
  };
}
