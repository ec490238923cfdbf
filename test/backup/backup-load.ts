/**
 * Senders that record what was acknowledged, and a reader that counts how often each event is
 * stored.
 */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { pushText } from '../harness/metrics.ts';
import type { Service } from '../harness/service.ts';
import { until } from '../harness/until.ts';

export const eventsPerRequest = 20;
/** Large, so that few events fill a segment. */
const padding = '.'.repeat(2000);

export interface Load {
  /** Acknowledged log requests. */
  acknowledged(): readonly number[];
  /** Number of the last acknowledged push of samples. */
  pushed(): number;
  /** Resolves once the last answers have arrived. */
  stop(): Promise<void>;
}

/** Runs three senders of logs and one of samples until stopped. */
export function startLoad(service: Service): Load {
  const acknowledged: number[] = [];
  let next = 0;
  let pushed = -1;
  let isStopped = false;
  const sendLogs = async (): Promise<void> => {
    while (!isStopped) {
      const request = next++;
      const events = Array.from({ length: eventsPerRequest }, (_, index) => ({
        message: `request ${request} event ${index} ${padding}`,
      }));
      const answer = await service.postLogs(events).catch(() => undefined);
      if (answer?.status === 202) acknowledged.push(request);
      await sleep(20);
    }
  };
  const pushSamples = async (): Promise<void> => {
    for (let push = 0; !isStopped; push++) {
      const text = `# TYPE pushes gauge\npushes{of="backup"} ${push} ${1_800_000_000_000 + push}\n`;
      const answer = await pushText(service, text).catch(() => undefined);
      if (answer?.status === 202) pushed = push;
      await sleep(20);
    }
  };
  const senders = [sendLogs(), sendLogs(), sendLogs(), pushSamples()];
  return {
    acknowledged: () => [...acknowledged],
    pushed: () => pushed,
    async stop() {
      isStopped = true;
      await Promise.all(senders);
    },
  };
}

/** Stored count of each event by request, once the queue is empty. */
export async function countStored(service: Service): Promise<Map<number, Map<number, number>>> {
  await until(async () => (await service.metric('weir_queue_batches')) === 0, {
    what: 'the queue to drain',
  });
  const stored = new Map<number, Map<number, number>>();
  let cursor: string | undefined;
  for (;;) {
    const page = await service.list({ limit: 1000, ...(cursor === undefined ? {} : { cursor }) });
    if (page.logs.length === 0) return stored;
    for (const { message } of page.logs) {
      const [, request, event] = /^request (\d+) event (\d+) /.exec(message) ?? [];
      if (request === undefined) continue;
      const events = stored.get(Number(request)) ?? new Map<number, number>();
      events.set(Number(event), (events.get(Number(event)) ?? 0) + 1);
      stored.set(Number(request), events);
    }
    cursor = `${page.cursor.timestamp},${page.cursor.logId}`;
  }
}

/** Asserts that every event of these requests is stored, and none of any request twice. */
export function assertExactlyOnce(
  stored: ReadonlyMap<number, ReadonlyMap<number, number>>,
  acknowledged: readonly number[],
): void {
  const lost = acknowledged.filter((request) => stored.get(request)?.size !== eventsPerRequest);
  assert.deepEqual(lost, [], 'acknowledged before but incomplete');
  const doubled = [...stored].filter(([, events]) => [...events.values()].some((n) => n !== 1));
  assert.deepEqual(doubled, [], 'stored twice');
}
