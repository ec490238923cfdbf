/** Remote read: decodes the queries, reads their samples and encodes the response in snappy. */
import { setImmediate } from 'node:timers/promises';
import { compress } from 'snappy';
import { AppError } from '../model/errors.ts';
import type { SamplesPlan, SeriesSamples } from '../model/metric-plan.ts';
import type { ReadCaller } from '../model/read-route.ts';
import { readContext, type ReadContextSource } from '../model/readable-streams.ts';
import { createSemaphore } from '../std/semaphore.ts';
import type { Store } from '../store/port.ts';
import { type MetricsLimits, planReads } from './plan.ts';
import { decodeReadRequest } from './read-request.ts';
import { encodeReadResponse } from './read-response.ts';

export interface RemoteReadParts extends ReadContextSource {
  readonly store: Pick<Store, 'samples'>;
}

/** Few at once: a read takes about 70 bytes of memory for each sample. */
const concurrentReads = 3;
const maxWaitingReads = 200;

/**
 * @returns a handler from `prometheus.ReadRequest` to a snappy block of `prometheus.ReadResponse`.
 */
export function createRemoteRead(parts: RemoteReadParts, limits: MetricsLimits) {
  const semaphore = createSemaphore({
    what: 'remote reads',
    places: concurrentReads,
    maxWaiting: maxWaitingReads,
  });

  async function readAll(
    plans: readonly (SamplesPlan | undefined)[],
    disconnected: AbortSignal | undefined,
  ): Promise<SeriesSamples[][]> {
    const results: SeriesSamples[][] = [];
    let samples = 0;
    for (const plan of plans) {
      const found = plan === undefined ? [] : await parts.store.samples(plan, disconnected);
      for (const { times, histograms } of found) samples += times.length + histograms.length;
      if (samples > limits.maxReadSamples) throw tooManySamples(limits);
      results.push(found);
    }
    return results;
  }

  /** @throws AppError `malformed`, `unavailable` */
  return async (
    { accountId, disconnected }: ReadCaller,
    message: Uint8Array,
  ): Promise<Uint8Array> => {
    const context = await readContext(parts, accountId);
    const plans = planReads(context, decodeReadRequest(message), limits);
    const release = await semaphore.acquire(accountId, disconnected);
    try {
      return await compress(await encodeInTurns(await readAll(plans, disconnected)));
    } finally {
      release();
    }
  };
}

/** Yields to other requests while a large response is encoded. */
async function encodeInTurns(results: readonly SeriesSamples[][]): Promise<Uint8Array> {
  const encoding = encodeReadResponse(results);
  for (;;) {
    const { done, value } = encoding.next();
    if (done) return value;
    await setImmediate();
  }
}

function tooManySamples({ maxReadSamples }: MetricsLimits): AppError {
  return new AppError(
    'execution',
    `cannot answer with more than ${maxReadSamples} samples: ask for fewer series or a shorter ` +
      'range, or raise metrics.maxReadSamples',
  );
}
