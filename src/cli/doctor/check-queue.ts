/** Checks queue, engine, stored data and servers by the metrics of the operations port. */
import { reasonOf } from '../http.ts';
import { toCount } from '../sending/progress.ts';
import { failure, type Finding, found, skipped, warning } from './finding.ts';
import type { Targets } from './targets.ts';
import { probeHttp } from './probe.ts';

/** Seconds are normal under load; a minute means that the store does not keep up. */
const maxLagSeconds = 60;

/** The sum over all labels; undefined where the metric is absent. */
type Metric = (name: string) => number | undefined;

export async function checkQueue({ opsUrl, ca }: Targets): Promise<Finding[]> {
  const check = 'queue';
  if (opsUrl === undefined) return [skipped(check, 'no operations port given (--ops-url)')];
  try {
    const { status, text } = await probeHttp(new URL('/metrics', opsUrl), { ca });
    if (status !== 200) return [skipped(check, `no metrics at ${opsUrl.origin} (${status})`)];
    // Readiness is checked now; metrics show the last use.
    const { body } = await probeHttp(new URL('/readyz', opsUrl), { ca });
    const { missing } = (body ?? {}) as { missing?: unknown };
    const metric = parseMetrics(text);
    return [
      judgeQueue(check, metric),
      ...judgeEngine('engine', metric('weir_engine_up')),
      ...judgeStoredData('stored data', metric),
      ...judgeServers(metric, Array.isArray(missing) ? missing : []),
    ];
  } catch (error) {
    const says = `cannot reach the operations port ${opsUrl.origin}: ${reasonOf(error)}`;
    const advice = 'start the service, or give --ops-url; the port listens on loopback by default';
    return [warning(check, says, advice)];
  }
}

/** Text format 0.0.4. */
function parseMetrics(text: string): Metric {
  const sums = new Map<string, number>();
  for (const line of text.split('\n')) {
    const [name = ''] = line.split(/[ {]/, 1);
    const value = Number(line.slice(line.lastIndexOf(' ') + 1));
    if (name !== '' && name !== '#') sums.set(name, (sums.get(name) ?? 0) + value);
  }
  return (name) => sums.get(name);
}

function judgeQueue(check: string, metric: Metric): Finding {
  const gauge = (name: string) => metric(`weir_queue_${name}`) ?? 0;
  const writable = metric('weir_queue_writable');
  if (writable === undefined) return skipped(check, 'this node has no queue');
  const lagSeconds = gauge('oldest_age_seconds');
  const says = `${toCount(gauge('rows'))} rows waiting, the oldest for ${lagSeconds.toFixed(1)} s`;
  if (writable === 0) {
    const isAtNats = metric('weir_queue_connected') !== undefined;
    const advice = isAtNats
      ? 'check NATS, and the log of the service for the error'
      : 'free disk space; see the log of the service for the reason';
    return failure(check, `it accepts no logs; ${says}`, advice);
  }
  const lost = gauge('lost_batches_total');
  if (lost > 0) {
    const advice = 'check the disk; see "A damaged log" in docs/runbook-damage.md';
    return failure(check, `${lost} acknowledged batches are lost; ${says}`, advice);
  }
  if (lagSeconds > maxLagSeconds) {
    const advice = 'the store is slow or unreachable: check its log and its load';
    return warning(check, says, advice);
  }
  const quarantined = gauge('quarantined_batches');
  if (quarantined === 0) return found(check, says);
  const advice =
    'the store refused them: weir quarantine list shows why; see docs/runbook-damage.md';
  return warning(check, `${says}; ${quarantined} batches in quarantine`, advice);
}

/** @param up undefined where the store is on a server. */
function judgeEngine(check: string, up: number | undefined): Finding[] {
  if (up === undefined) return [];
  if (up === 1) return [found(check, 'running')];
  const advice = 'Weir restarts it; see the log for why it exited';
  return [failure(check, 'the engine process is not running', advice)];
}

function judgeStoredData(check: string, metric: Metric): Finding[] {
  const damaged = metric('weir_store_damaged_parts');
  // Only nodes with the role of housekeeping search for damage.
  if (damaged === undefined) return [];
  const errors = metric('weir_store_corruption_errors_total') ?? 0;
  if (damaged === 0 && errors === 0) return [found(check, 'no damage found')];
  const says = `${damaged} parts are damaged, and ${errors} reads or merges found damaged files`;
  const advice = 'check the disk; the log names the parts; see docs/runbook-damage.md';
  return [failure(check, says, advice)];
}

const servers = [
  {
    check: 'directory',
    gauge: 'weir_directory_connected',
    fault: 'PostgreSQL does not respond: known tokens work for a while, then all get 503',
    settings: 'directory.url and directory.password',
  },
  {
    check: 'limits',
    gauge: 'weir_quota_store_connected',
    fault: 'Redis does not respond: receivers with limits get 503',
    settings: 'quota.urls and quota.password',
  },
  {
    check: 'store',
    gauge: 'weir_store_reachable',
    fault: 'it does not respond: events wait in the queue, reads get 503',
    settings: 'store.url and store.password',
  },
];

/** @param missing parts that are not ready. */
function judgeServers(metric: Metric, missing: readonly unknown[]): Finding[] {
  return servers.flatMap(({ check, gauge, fault, settings }): Finding[] => {
    const value = metric(gauge);
    const isEngine = check === 'store' && metric('weir_engine_up') !== undefined;
    if (value === undefined || isEngine) return [];
    if (value === 1 && !missing.includes(check)) return [found(check, 'connected')];
    const advice = `check the server, ${settings}, and the log of the service`;
    return [failure(check, fault, advice)];
  });
}
