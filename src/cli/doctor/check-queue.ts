/** The queue and the engine, as the operations port shows them to those on the same machine. */
import { reasonOf } from '../network-failure.ts';
import { toCount } from '../sending/progress-text.ts';
import { type Finding, found, skipped } from './finding.ts';
import type { Places } from './places.ts';
import { probeHttp } from './probe.ts';

/** Under load it is seconds; a minute is a store that does not keep up. */
const mostLagSeconds = 60;

export async function checkQueue({ opsUrl, ca }: Places): Promise<Finding[]> {
  const check = 'queue';
  if (opsUrl === undefined) return [skipped(check, 'no operations port given (--ops-url)')];
  try {
    const { status, text } = await probeHttp(new URL('/metrics', opsUrl), { ca });
    if (status === 200) return [judgeQueue(text), ...judgeEngine(text)];
    return [skipped(check, `no metrics at ${opsUrl.origin} (${status})`)];
  } catch (error) {
    const reason = error instanceof Error ? reasonOf(error) : String(error);
    const says = `cannot reach the operations port ${opsUrl.origin}: ${reason}`;
    const advice = 'start the service, or give --ops-url; it answers on its own machine alone';
    return [{ check, status: 'warn', says, advice }];
  }
}

function judgeQueue(metrics: string): Finding {
  const gauge = (name: string) => valueOf(metrics, `weir_queue_${name}`) ?? 0;
  const check = 'queue';
  const lagSeconds = gauge('oldest_age_seconds');
  const says = `${toCount(gauge('rows'))} rows waiting, the oldest for ${lagSeconds.toFixed(1)} s`;
  if (gauge('writable') === 0) {
    const advice = 'free disk space, or restart the service if its log tells of a failed write';
    return { check, status: 'fail', says: `it takes no logs; ${says}`, advice };
  }
  if (lagSeconds > mostLagSeconds) {
    const advice = 'the store does not keep up or is away: look at its log and its load';
    return { check, status: 'warn', says, advice };
  }
  const setAside = gauge('quarantined_batches');
  if (setAside === 0) return found(check, says);
  return {
    check,
    status: 'warn',
    says: `${says}; ${setAside} batches set aside`,
    advice: 'the store refused them: look for "drain gave up" in the log of the service',
  };
}

/** With a store elsewhere there is no engine. */
function judgeEngine(metrics: string): Finding[] {
  const up = valueOf(metrics, 'weir_engine_up');
  if (up === undefined) return [];
  if (up === 1) return [found('engine', 'running')];
  const says = 'the process of the store is down';
  const advice = 'it is started again by itself; its log lines tell why it ended';
  return [{ check: 'engine', status: 'fail', says, advice }];
}

/** Of the text format 0.0.4, without labels. */
function valueOf(metrics: string, name: string): number | undefined {
  const line = metrics.split('\n').find((text) => text.startsWith(`${name} `));
  return line === undefined ? undefined : Number(line.slice(name.length + 1));
}
