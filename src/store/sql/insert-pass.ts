/**
 * What lets an insert of one holder of a shard in, where others may hold the shard after it: a
 * number in its text that the store compares with the highest one it was told of. Pure.
 */
import { tableName } from './columns.ts';
import type { Placement } from './placement.ts';
import type { Parameters } from './statement.ts';

export interface InsertPass {
  readonly shard: string;
  /** Higher than those of all holders before. */
  readonly number: bigint;
  /** Of this insert alone, begins with `insertIdsOf(shard)`. */
  readonly queryId: string;
}

/** What the ids of all inserts of a shard begin with, and those of no other shard. */
export function insertIdsOf(shard: string): string {
  return `weir/${encodeURIComponent(shard)}/`;
}

/**
 * Looked up once, before the store reads a row. It fails with FUNCTION_THROW_IF_VALUE_IS_NON_ZERO
 * where a later holder has fenced, and always holds otherwise. What a replica has not heard of yet
 * it does not answer with.
 */
export function passCondition(
  { database, cluster }: Placement,
  { shard, number }: InsertPass,
  params: Parameters,
): string {
  const isPast = `throwIf(max(Number) > ${params.add('UInt128', number)}, 'superseded')`;
  const settings = cluster === undefined ? '' : ' SETTINGS select_sequential_consistency = 1';
  return `(
  SELECT ${isPast} FROM ${tableName(database, 'fences')}
  WHERE Shard = ${params.add('String', shard)}${settings}) = 0`;
}
