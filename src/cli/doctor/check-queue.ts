/** Queue, engine, stored data and servers, as the operations port shows them to this machine. */
import { reasonOf } from '../http.ts';
import { toCount } from '../sending/progress.ts';
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
    if (status !== 200) return [skipped(check, `no metrics at ${opsUrl.origin} (${status})`)];
    const missing = await askMissing(opsUrl, ca);
    return [
      judgeQueue(text),
      ...judgeEngine(text),
      ...judgeStoredData(text),
      ...judgeServers(text, missing),
    ];
  } catch (error) {
    const reason = error instanceof Error ? reasonOf(error) : String(error);
    const says = `cannot reach the operations port ${opsUrl.origin}: ${reason}`;
    const advice = 'start the service, or give --ops-url; it answers on its own machine alone';
    return [{ check, status: 'warn', says, advice }];
  }
}

/** What the node lacks to be ready, tried now: metrics tell of what was used last. */
async function askMissing(opsUrl: URL, ca: string | undefined): Promise<ReadonlySet<unknown>> {
  const { body } = await probeHttp(new URL('/readyz', opsUrl), { ca });
  const { missing } = (body ?? {}) as { missing?: unknown };
  return new Set(Array.isArray(missing) ? missing : []);
}

function judgeQueue(metrics: string): Finding {
  const gauge = (name: string) => valueOf(metrics, `weir_queue_${name}`) ?? 0;
  const check = 'queue';
  const writable = valueOf(metrics, 'weir_queue_writable');
  if (writable === undefined) return skipped(check, 'a node that has none');
  const lagSeconds = gauge('oldest_age_seconds');
  const says = `${toCount(gauge('rows'))} rows waiting, the oldest for ${lagSeconds.toFixed(1)} s`;
  if (writable === 0) {
    const isAtNats = valueOf(metrics, 'weir_queue_connected') !== undefined;
    const advice = isAtNats
      ? 'look at NATS, and at the log of the service for what it refuses'
      : 'free disk space; the log of the service says why it takes nothing';
    return { check, status: 'fail', says: `it takes no logs; ${says}`, advice };
  }
  const lost = gauge('lost_batches_total');
  if (lost > 0) {
    const advice = 'check the disk; see "A damaged log" in docs/runbook-damage.md';
    return {
      check,
      status: 'fail',
      says: `${lost} acknowledged batches are lost; ${says}`,
      advice,
    };
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
    advice: 'the store refused them: weir quarantine list shows why; see docs/runbook-damage.md',
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

/** Only a node that does the housekeeping of the store looks for damage. */
function judgeStoredData(metrics: string): Finding[] {
  const check = 'stored data';
  const damaged = sumOf(metrics, 'weir_store_damaged_parts');
  if (damaged === undefined) return [];
  const errors = sumOf(metrics, 'weir_store_corruption_errors_total') ?? 0;
  if (damaged === 0 && errors === 0) return [found(check, 'no damage found')];
  return [
    {
      check,
      status: 'fail',
      says: `${damaged} parts are damaged, and ${errors} reads or merges met damaged files`,
      advice: 'check the disk; the log names the parts; see docs/runbook-damage.md',
    },
  ];
}

const servers = [
  {
    check: 'directory',
    gauge: 'weir_directory_connected',
    away: 'PostgreSQL does not answer: known tokens work for a while, then all get 503',
    setting: 'directory.url and directory.password',
  },
  {
    check: 'limits',
    gauge: 'weir_quota_store_connected',
    away: 'Redis does not answer: receivers with limits get 503',
    setting: 'quota.urls and quota.password',
  },
  {
    check: 'store',
    gauge: 'weir_store_reachable',
    away: 'it does not answer: events wait in the queue, reads get 503',
    setting: 'store.url and store.password',
  },
];

/** Of those that this node works with. */
function judgeServers(metrics: string, missing: ReadonlySet<unknown>): Finding[] {
  return servers.flatMap(({ check, gauge, away, setting }): Finding[] => {
    const value = valueOf(metrics, gauge);
    const isEngine = check === 'store' && valueOf(metrics, 'weir_engine_up') !== undefined;
    if (value === undefined || isEngine) return [];
    if (value === 1 && !missing.has(check)) return [found(check, 'connected')];
    const advice = `look at the server, at ${setting}, and at the log of the service for why`;
    return [{ check, status: 'fail', says: away, advice }];
  });
}

/** Over all labels; undefined where there is no such metric. */
function sumOf(metrics: string, name: string): number | undefined {
  const values = metrics
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .map((line) => Number(line.slice(line.lastIndexOf(' ') + 1)));
  return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0);
}

/** Of the text format 0.0.4, without labels. */
function valueOf(metrics: string, name: string): number | undefined {
  const line = metrics.split('\n').find((text) => text.startsWith(`${name} `));
  return line === undefined ? undefined : Number(line.slice(name.length + 1));
}
