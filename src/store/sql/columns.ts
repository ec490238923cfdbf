/** Names of tables, and what the indexes on labels and messages are built on. */
/**
 * The skip indexes that inserts and merges leave out, for housekeeping to build when it is quiet.
 */
export const searchIndexes = ['labels', 'message_ngrams'] as const;

/**
 * Every `key=value` of a row's labels: what the index `labels` is built on, to be repeated
 * literally by its users.
 */
export const labelPairs =
  "arrayMap((k, v) -> concat(k, '=', v), " +
  'arrayConcat(mapKeys(LogAttributes), mapKeys(ResourceAttributes)), ' +
  'arrayConcat(mapValues(LogAttributes), mapValues(ResourceAttributes)))';

const namePattern = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;

/** @returns `database.name`. @throws Error where the database is no plain identifier. */
export function tableName(database: string, name: string): string {
  if (!namePattern.test(database)) {
    throw new Error(`cannot use database name "${database}": letters, digits and _ only`);
  }
  return `${database}.${name}`;
}
