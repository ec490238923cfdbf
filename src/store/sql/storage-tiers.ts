/** Statements that say on which disks of a server rows stand, and when they move. Pure. */
import { localEnding, localTable, onCluster, type Placement } from './placement.ts';
import { Parameters, type Statement } from './statement.ts';
import { type StoredTable, storedTables } from './stored-tables.ts';

export interface StorageTiers {
  /** Undefined = as the server has it. */
  readonly storagePolicy: string | undefined;
  /** Where old days move to; undefined = nowhere. */
  readonly cold: { readonly volume: string; readonly afterDays: number } | undefined;
}

/** The usual name of a table, its policy, and its TTL as the server words it; "" = none. */
export type TiersRow = readonly [StoredTable, string, string];

export function compileTiers({ database, cluster }: Placement): Statement {
  const params = new Parameters();
  const ending = cluster === undefined ? '' : localEnding;
  const names = storedTables.map((name) => `${name}${ending}`);
  const sql = `SELECT replaceRegexpOne(name, '${localEnding}$', ''), storage_policy,
  extract(engine_full, ' TTL (.*?)(?: SETTINGS |$)')
FROM system.tables
WHERE database = ${params.add('String', database)} AND name ${params.anyOf('String', names)}`;
  return { sql, params: params.values };
}

/** What is left to be done so that a table is as wanted. */
export function compileTierChanges(
  placement: Placement,
  { storagePolicy, cold }: StorageTiers,
  [table, policyNow, ttlNow]: TiersRow,
): Statement[] {
  const alter = (change: string): Statement => ({
    sql: `ALTER TABLE ${localTable(placement, table)}${onCluster(placement)} ${change}`,
    params: {},
  });
  const changes: Statement[] = [];
  if (storagePolicy !== undefined && storagePolicy !== policyNow) {
    changes.push(alter(`MODIFY SETTING storage_policy = ${policyLiteral(storagePolicy)}`));
  }
  const ttl = cold === undefined ? '' : moveSql(cold);
  if (ttl === ttlNow) return changes;
  if (ttl !== '') changes.push(alter(`MODIFY TTL ${ttl}`));
  else if (ttlNow.includes('TO VOLUME')) changes.push(alter('REMOVE TTL'));
  return changes;
}

/** Worded as the server words it. */
function moveSql({ volume, afterDays }: NonNullable<StorageTiers['cold']>): string {
  const moment = `toDateTime(ReceivedAt) + toIntervalDay(${Math.trunc(afterDays)})`;
  return `${moment} TO VOLUME ${policyLiteral(volume)}`;
}

/** Of a policy or a volume. @throws Error where the name could be more than a name */
export function policyLiteral(name: string): string {
  if (!/^[\w.-]{1,100}$/.test(name)) {
    throw new Error(`cannot use "${name}" in a storage policy: letters, digits, _, . and - only`);
  }
  return `'${name}'`;
}
