/** Time from acknowledgement until a log can be read. */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Service } from '../test/harness/service.ts';
import { type Percentiles, percentilesOf } from './percentiles.ts';

export interface ReadableFigures {
  readonly ms: Percentiles;
  /** Each occurs in the message and the label `probe` of one log. */
  readonly probes: readonly string[];
}

/** Posts single logs sequentially and polls for each; times in ms. */
export async function measureReadable(
  service: Service,
  samples: number,
  pauseMs: number,
): Promise<ReadableFigures> {
  const times: number[] = [];
  const probes: string[] = [];
  for (let sample = 0; sample < samples; sample++) {
    await sleep(pauseMs);
    const probe = randomBytes(8).toString('hex');
    times.push(await timeToSight(service, probe));
    probes.push(probe);
  }
  return { ms: percentilesOf(times), probes };
}

/** A fixed rate, so that faster reads do not poll more often and load the store more. */
const pollMs = 40;

async function timeToSight(service: Service, probe: string): Promise<number> {
  const sinceTime = Date.now() - 1_000;
  const name = `probe-${probe}`;
  const answer = await service.postLogs({
    message: `sent probe ${probe} on its way`,
    service_name: name,
    labels: { probe },
  });
  if (answer.status !== 202) throw new Error(`cannot post a probe: ${answer.text}`);
  const acknowledgedAt = performance.now();
  for (;;) {
    const polledAt = performance.now();
    const { logs } = await service.list({ serviceName: name, sinceTime, limit: 1 });
    if (logs.length > 0) return performance.now() - acknowledgedAt;
    if (performance.now() - acknowledgedAt > 60_000) throw new Error(`cannot see ${name} in 60 s`);
    await sleep(Math.max(0, pollMs - (performance.now() - polledAt)));
  }
}
