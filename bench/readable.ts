/** How long after its acknowledgement a log can be read. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Service } from '../test/harness/service.ts';
import { percentilesOf, type Percentiles } from './percentiles.ts';

/**
 * Posts single logs one after the other and polls for each; times in ms from acknowledgement to
 * first sight.
 */
export async function measureReadable(
  service: Service,
  samples: number,
  pauseMs: number,
): Promise<Percentiles> {
  const times: number[] = [];
  for (let sample = 0; sample < samples; sample++) {
    await sleep(pauseMs);
    times.push(await timeToSight(service, `probe-${process.pid}-${performance.now()}`));
  }
  return percentilesOf(times);
}

async function timeToSight(service: Service, name: string): Promise<number> {
  const sinceTime = Date.now() - 1_000;
  const answer = await service.postLogs({ message: 'probe', service_name: name });
  if (answer.status !== 202) throw new Error(`cannot post a probe: ${answer.text}`);
  const acknowledgedAt = performance.now();
  for (;;) {
    const { logs } = await service.list({ serviceName: name, sinceTime, limit: 1 });
    if (logs.length > 0) return performance.now() - acknowledgedAt;
    if (performance.now() - acknowledgedAt > 60_000) throw new Error(`cannot see ${name} in 60 s`);
    await sleep(10);
  }
}
