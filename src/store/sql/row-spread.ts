/** Where an account's logs lie in event time, from the primary index. Pure. */
import { type Statement, statement } from './statement.ts';
import { clusterLiteral, localTable, type Placement } from './tables.ts';

/** Granules of a part that are read as one. */
const granulesPerRow = 8;

/** Stream, event time of the first row in Unix ns, rows. */
export type GranuleRow = readonly [streamId: string, fromNanos: string, rows: string];

/** The newest first. */
export function compileGranules(placement: Placement, accountId: string, limit: number): Statement {
  const { database, cluster } = placement;
  const table = localTable(placement, 'logs').slice(database.length + 1);
  const index = `mergeTreeIndex('${database}', '${table}')`;
  const source = cluster === undefined ? index : `cluster(${clusterLiteral(cluster)}, ${index})`;
  return statement(
    (params) => `SELECT StreamId, toString(toUnixTimestamp64Nano(min(Timestamp))),
  toString(sum(rows_in_granule))
FROM ${source}
WHERE AccountId = ${params.add('String', accountId)} AND rows_in_granule > 0
GROUP BY part_name, StreamId, intDiv(mark_number, ${granulesPerRow})
ORDER BY min(Timestamp) DESC
LIMIT ${limit}`,
  );
}
