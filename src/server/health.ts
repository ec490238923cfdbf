/** What the open routes answer: alive, ready, and the metrics of the process. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Registry } from 'prom-client';
import type { OpenAnswer } from './route.ts';

export interface Answers {
  /** Fixed words for what is not ready, such as `queue`; empty = ready. */
  readonly missing: () => Promise<readonly string[]>;
  readonly metrics: Pick<Registry, 'contentType' | 'metrics'>;
}

const contentType = 'application/json; charset=utf-8';

export async function answerHealth(): Promise<OpenAnswer> {
  return { status: 200, contentType, body: '{"status":"ok"}' };
}

export async function answerReadiness({ missing }: Answers): Promise<OpenAnswer> {
  const parts = await missing();
  const isReady = parts.length === 0;
  const body = JSON.stringify({ status: isReady ? 'ready' : 'not ready', missing: parts });
  return { status: isReady ? 200 : 503, contentType, body };
}

/** Prometheus text, format 0.0.4. */
export function createMetricsAnswer({ metrics }: Answers): () => Promise<OpenAnswer> {
  const render = createPaced(() => metrics.metrics());
  return async () => ({ status: 200, contentType: metrics.contentType, body: await render() });
}

/** At most a tenth of one core, as long as one call takes no longer than this part of it. */
const restFactor = 9;
const longestRestMs = 100;

/**
 * Makes one at a time, with a rest after each that is proportional to what it took. Who asks
 * meanwhile shares the next one, so that no answer is older than its question.
 */
function createPaced<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let last: Promise<unknown> = Promise.resolve();
  let next: Promise<Value> | undefined;
  let restedAtMs = 0;
  const makeNext = async () => {
    const restMs = restedAtMs - performance.now();
    if (restMs > 0) await sleep(restMs);
    next = undefined;
    const startedAtMs = performance.now();
    try {
      return await make();
    } finally {
      const nowMs = performance.now();
      restedAtMs = nowMs + Math.min(longestRestMs, restFactor * (nowMs - startedAtMs));
    }
  };
  return () => {
    if (next === undefined) {
      next = last.then(makeNext);
      last = next.catch(() => undefined);
    }
    return next;
  };
}
