/** Checks a ClickHouse server before the first change, and explains errors to the operator. */
import { ClickHouseError } from '@clickhouse/client';
import type { Connection } from './connection.ts';
import { type Statement, statement } from './sql/statement.ts';
import { everyReplica, localEnding, type Placement, storedTables } from './sql/tables.ts';

export interface ServerAddress {
  readonly url: string;
  readonly user: string;
}

/**
 * The first version with all settings of our statements; the newest of them is
 * `max_threads_min_free_memory_per_thread`.
 */
const minVersion = [26, 5] as const;

/** Timeout of each check. */
const timeoutMs = 10_000;

/** @throws Error for the operator */
export async function checkServer(
  connection: Connection,
  placement: Placement,
  address: ServerAddress,
): Promise<void> {
  const query = async <Row>(sql: Statement) => {
    try {
      return await connection.query<Row>('housekeeping', sql, AbortSignal.timeout(timeoutMs));
    } catch (error) {
      throw new Error(explain(error, address), { cause: error });
    }
  };
  const [version] = await query<[string]>({ sql: 'SELECT version()', params: {} });
  checkVersion(version?.[0] ?? '');
  if (placement.cluster !== undefined) {
    checkCluster(placement.cluster, await query<[string, number]>(clustersSql(placement.cluster)));
  }
  checkTables(placement, await query<[string, string]>(tablesSql(placement)));
}

function clustersSql(cluster: string): Statement {
  return statement(
    (params) => `SELECT cluster, toUInt8(min(internal_replication)) FROM system.clusters
GROUP BY cluster ORDER BY cluster = ${params.add('String', cluster)} DESC, cluster`,
  );
}

/** On every node that answers, since a load balancer may have picked another one to create them. */
function tablesSql(placement: Placement): Statement {
  const names = storedTables.flatMap((name) => [name, `${name}${localEnding}`]);
  return statement(
    (params) => `SELECT DISTINCT name, engine_full FROM ${everyReplica(placement, 'system.tables')}
WHERE database = ${params.add('String', placement.database)}
  AND name ${params.anyOf(names)}
ORDER BY name
SETTINGS skip_unavailable_shards = 1`,
  );
}

const distributed = /^Distributed\('?([^',]+)/;

/**
 * @param found name and engine of the existing tables
 * @throws Error for tables of a cluster when one server is configured, or the reverse
 */
export function checkTables(
  { database, cluster }: Placement,
  found: readonly (readonly [string, string])[],
): void {
  if (cluster !== undefined) {
    const isOfOne = ([name, engine]: readonly [string, string]) =>
      !name.endsWith(localEnding) && !distributed.test(engine);
    if (!found.some(isOfOne)) return;
    throw new Error(
      `cannot use cluster "${cluster}" for database "${database}", which one server created: ` +
        'leave store.cluster empty, or set store.database to a new one',
    );
  }
  const isOfCluster = ([name, engine]: readonly [string, string]) =>
    name.endsWith(localEnding) || distributed.test(engine);
  if (!found.some(isOfCluster)) return;
  const [known] = found.flatMap(([, engine]) => distributed.exec(engine)?.slice(1) ?? []);
  const name = known === undefined ? 'its name' : `its name (${known})`;
  throw new Error(
    `cannot use database "${database}" as that of one server: a cluster created it; ` +
      `set store.cluster to ${name}, or store.database to a new one`,
  );
}

/** @param version such as 26.7.2.1 @throws Error for an older one than Weir needs */
export function checkVersion(version: string): void {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [minMajor, minMinor] = minVersion;
  if (major > minMajor || (major === minMajor && minor >= minMinor)) return;
  const least = minVersion.join('.');
  throw new Error(`cannot use ClickHouse ${version} as the store: it must be ${least} or later`);
}

function checkCluster(cluster: string, found: readonly (readonly [string, number])[]): void {
  const [first] = found;
  if (first?.[0] !== cluster) {
    const known = found.map(([name]) => name).join(', ') || 'none';
    throw new Error(
      `cannot find cluster "${cluster}": set store.cluster to one that the server knows (${known})`,
    );
  }
  if (first[1] === 0) {
    throw new Error(
      `cannot use cluster "${cluster}": set internal_replication to true for each of its shards`,
    );
  }
}

/** The cause of an error at the start, and the setting to change. */
export function explain(error: unknown, { url, user }: ServerAddress): string {
  const at = withoutSecrets(url);
  if (error instanceof ClickHouseError) return refusal(error, { url: at, user });
  const { name, code, message } = error as Partial<NodeJS.ErrnoException>;
  if (name === 'TimeoutError') return `cannot use the store: ${at} does not answer`;
  if (code !== undefined && certificateCodes.test(code)) {
    return `cannot trust the certificate of ${at} (${code}): set store.caFile to its authority`;
  }
  const why = code ?? message ?? String(error);
  return `cannot reach the store at ${at} (${why}): check store.url, and that the server runs`;
}

const certificateCodes = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER/;

function refusal(error: ClickHouseError, { url, user }: ServerAddress): string {
  const [summary = ''] = error.message.split('\n', 1);
  switch (error.code) {
    case '516':
    case '192':
    case '193':
    case '194':
      return `cannot log in to the store at ${url} as "${user}": check store.user, store.password`;
    case '164':
      return `cannot prepare the store: user "${user}" may only read there; allow it to write`;
    case '497':
      return `cannot prepare the store: user "${user}" lacks a privilege there: ${summary}`;
    default:
      return `cannot prepare the store at ${url}: ${summary}`;
  }
}

function withoutSecrets(url: string): string {
  const { origin, pathname } = new URL(url);
  return pathname === '/' ? origin : `${origin}${pathname}`;
}
