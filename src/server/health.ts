/** What the open routes answer: alive, ready, and the metrics of the process. */
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
export async function answerMetrics({ metrics }: Answers): Promise<OpenAnswer> {
  return { status: 200, contentType: metrics.contentType, body: await metrics.metrics() };
}
