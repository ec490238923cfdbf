/**
 * Logs unlike those of `bench/corpus.ts`: messages of about 600 bytes (access lines, JSON, SQL,
 * stack traces) from 240 services with twelve pods each.
 */
import type { Random } from '../../test/harness/random.ts';
import type { LogEvent } from '../corpus.ts';
import { createZipf, hex } from '../draws.ts';

type Words = [string, ...string[]];

const domains: Words = ['billing', 'catalog', 'fraud', 'ledger', 'media', 'search', 'tax', 'users'];
const parts: Words = ['api', 'worker', 'gateway', 'scheduler', 'importer', 'notifier'];
const resources: Words = ['articles', 'baskets', 'contracts', 'devices', 'invoices', 'refunds'];
const severities = ['INFO', 'WARN', 'DEBUG', 'ERROR', 'TRACE', 'FATAL'] as const;
const userAgents: Words = [
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/141.0.0.0 Safari/537.36',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_4 like Mac OS X) AppleWebKit/605.1.15 Mobile/22E240',
  'okhttp/5.1.0 (Android 15; build 20418)',
  'python-requests/2.32.4',
];
const classes: Words = ['Refund', 'Invoice', 'Contract', 'Device', 'Basket', 'Article'];
const steps: Words = ['validate', 'persist', 'publish', 'enrich', 'authorize', 'serialize'];

const services = 240;
const podsPerService = 12;
const tenants = 20_000;

export function createMixedEvents(random: Random): () => LogEvent {
  const nextService = createZipf(random, services, toService);
  const nextLevel = createZipf(random, severities.length, (rank) => severities[rank] ?? 'INFO');
  const nextTenant = createZipf(random, tenants, (rank) => `tenant-${rank}`);
  return () => {
    const service = nextService();
    const severity = nextLevel();
    const pod = random.integer(0, podsPerService - 1);
    return {
      severity,
      service_name: service,
      host: `${service}-${podSuffix(service, pod)}`,
      message: toMessage(random, severity),
      labels: {
        team: service.slice(0, service.indexOf('-')),
        zone: `zone-${random.pick(['a', 'b', 'c'])}`,
        tenant: nextTenant(),
        ...(random.next() < 0.5 ? { request_id: hex(random, 32) } : {}),
      },
    };
  };
}

function toService(rank: number): string {
  const domain = domains[rank % domains.length] ?? '';
  const part = parts[Math.floor(rank / domains.length) % parts.length] ?? '';
  return `${domain}-${part}-${rank}`;
}

/** As of a Kubernetes deployment: the hash of the replica set and five letters. */
function podSuffix(service: string, pod: number): string {
  const hash = (service.length * 7_919 + service.charCodeAt(0) * 104_729) % 0xfff_ffff;
  return `${hash.toString(16).padStart(7, '0')}-${(pod * 1_679_617 + hash).toString(36).slice(-5)}`;
}

function toMessage(random: Random, severity: string): string {
  const isError = severity === 'ERROR' || severity === 'FATAL';
  const kind = random.next();
  if (isError && kind < 0.6) return stackTrace(random);
  if (kind < 0.45) return accessLine(random);
  if (kind < 0.75) return jsonMessage(random);
  if (kind < 0.97) return statement(random);
  return stackTrace(random);
}

function accessLine(random: Random): string {
  const address = Array.from({ length: 4 }, () => random.integer(1, 254)).join('.');
  const resource = random.pick(resources);
  const query = `cursor=${hex(random, 40)}&page=${random.integer(1, 400)}&fields=id,state,total`;
  const path = `/v2/${resource}/${random.integer(1, 9_000_000)}?${query}`;
  const status = random.pick(['200', '200', '200', '201', '304', '400', '404', '502']);
  const verb = random.pick(['GET', 'GET', 'POST', 'PUT', 'DELETE']);
  const referer = `https://console.weir.test/${resource}/overview?session=${hex(random, 32)}`;
  const request = `user-${random.integer(1, 60_000)} "${verb} ${path} HTTP/2.0" ${status}`;
  const timings = `upstream=${random.integer(1, 3_000)}ms tls=TLSv1.3`;
  const userAgent = random.pick(userAgents);
  const trace = `traceparent=00-${hex(random, 32)}-${hex(random, 16)}-01`;
  const bytes = random.integer(80, 90_000);
  return `${address} - ${request} ${bytes} "${referer}" "${userAgent}" ${timings} ${trace}`;
}

function jsonMessage(random: Random): string {
  const resource = random.pick(resources);
  const items = Array.from({ length: random.integer(5, 14) }, () => ({
    sku: `sku-${random.integer(1, 70_000)}`,
    quantity: random.integer(1, 12),
    price: random.integer(99, 99_900) / 100,
  }));
  return JSON.stringify({
    event: `${resource}.${random.pick(['created', 'updated', 'archived', 'reconciled'])}`,
    account: { id: hex(random, 24), plan: random.pick(['free', 'team', 'enterprise']) },
    actor: `user-${random.integer(1, 60_000)}`,
    items,
    elapsed: { queue: random.integer(0, 900), handler: random.integer(1, 4_000) },
    note: `moved from shelf ${random.integer(1, 5_000)} to dock`,
  });
}

function statement(random: Random): string {
  const resource = random.pick(resources);
  const columns = Array.from(
    { length: random.integer(6, 16) },
    (_, at) => `${resource}.field_${at}`,
  );
  const where = `tenant_id = ${random.integer(1, 20_000)} AND state IN ('open', 'held', 'settled')`;
  const sql = `SELECT ${columns.join(', ')} FROM ${resource} WHERE ${where} ORDER BY changed_at`;
  const took = `${random.integer(200, 9_000)} ms, ${random.integer(0, 90_000)} rows`;
  const plan = `seq scan on ${resource}, hash join, sort method external merge`;
  return `slow statement took ${took}: ${sql} LIMIT 500; plan ${hex(random, 16)}: ${plan}`;
}

function stackTrace(random: Random): string {
  const kind = random.pick(classes);
  const id = hex(random, 32);
  const head = random.pick([
    `java.util.concurrent.TimeoutException: deadline exceeded after ${random.integer(1, 60)} s`,
    'java.lang.IllegalStateException: version conflict',
    'java.io.IOException: connection refused by peer',
  ]);
  const frames = Array.from({ length: random.integer(6, 22) }, () => {
    const owner = `${random.pick(classes)}${random.pick(['Service', 'Store', 'Handler'])}`;
    const line = random.integer(9, 900);
    return `\tat com.weir.bench.${owner}.${random.pick(steps)}(${owner}.java:${line})`;
  });
  return [`${head} (${kind.toLowerCase()} ${id})`, ...frames].join('\n');
}
