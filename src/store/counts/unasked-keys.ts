/**
 * What the largest accounts are counted by before they ask: the fields of an overview, and, while
 * the store is quiet, their most frequent labels, which take several times as long.
 */
import { equalityFields, isLabelField } from '../../model/log-fields.ts';
import type { Connection } from '../connection.ts';
import {
  compileFrequentLabels,
  compileLargestAccounts,
  type CountField,
  type LogPartRow,
} from '../sql/part-counts.ts';
import type { Placement } from '../sql/tables.ts';
import type { FieldsKey } from './count-cache.ts';
import type { CountOptions } from './count-steps.ts';
import { rowsOf } from './part-list.ts';

/** In the order of `countedFields`. */
export const usualFields = [
  ['severity'],
  ['serviceName'],
  ['host'],
  ['severity', 'serviceName'],
] as const satisfies CountField[][];
/** Mostly by hour. */
export const allTogether = ['severity', 'serviceName', 'host'] as const satisfies CountField[];

const maxAccounts = 8;
const maxLabels = 4;
/** Labels with more are mostly ids. */
const maxLabelValues = 100;
/** Whose labels are looked at. */
const sampledRows = 50_000;

export type UnaskedKeys = ReturnType<typeof createUnaskedKeys>;

/** Those of an account that any of its questions may need. */
export function usualKeys(accountId: string): FieldsKey[] {
  return [...usualFields, allTogether].map((fields) => ({ accountId, fields }));
}

/** Labels are counted by service, so that these counts also answer questions by service. */
export function withService(fields: readonly CountField[]): readonly CountField[] {
  const own = equalityFields.filter((field) => field === 'serviceName' || fields.includes(field));
  return [...own, ...fields.filter(isLabelField)];
}

/** Accounts and labels are looked up again once the table has grown. */
export function createUnaskedKeys(
  connection: Pick<Connection, 'query'>,
  placement: Placement,
  { largePartRows, quietRowsPerSecond }: CountOptions,
) {
  let lookedAt = { rows: -1 };
  let last = { rows: 0, atMs: performance.now() };
  let accounts: readonly string[] = [];
  const labels = new Map<string, readonly FieldsKey[]>();

  async function labelsOf(
    accountId: string,
    parts: readonly LogPartRow[],
  ): Promise<readonly FieldsKey[]> {
    const largest = parts.reduce((a, b) => (Number(b[1]) > Number(a[1]) ? b : a));
    const statement = compileFrequentLabels(placement, {
      accountId,
      part: largest[0],
      every: Math.ceil(Number(largest[1]) / sampledRows),
      maxValues: maxLabelValues,
      limit: maxLabels,
    });
    const found = await connection.query<[key: string]>('housekeeping', statement);
    return found.map(([key]) => ({ accountId, fields: withService([`label.${key}`]) }));
  }

  /** Whether few rows arrived since the last look. */
  function takeIsQuiet(rows: number): boolean {
    const look = { rows, atMs: performance.now() };
    const seconds = Math.max(look.atMs - last.atMs, 1) / 1000;
    const isQuiet = look.rows - last.rows < quietRowsPerSecond * seconds;
    last = look;
    return isQuiet;
  }

  return {
    /** One list for each account, the largest first. @param hasRoom for counts of labels */
    async list(parts: readonly LogPartRow[], hasRoom: boolean): Promise<FieldsKey[][]> {
      const rows = rowsOf(parts);
      const withLabels = takeIsQuiet(rows) && hasRoom;
      if (rows < 0.8 * lookedAt.rows || rows > 1.2 * lookedAt.rows) {
        const statement = compileLargestAccounts(placement, {
          minRows: largePartRows,
          limit: maxAccounts,
        });
        const found = await connection.query<[string]>('housekeeping', statement);
        accounts = found.map(([accountId]) => accountId);
        labels.clear();
        lookedAt = { rows };
      }
      const lists: FieldsKey[][] = [];
      for (const accountId of accounts) {
        if (withLabels && !labels.has(accountId)) {
          labels.set(accountId, await labelsOf(accountId, parts));
        }
        const own = withLabels ? (labels.get(accountId) ?? []) : [];
        lists.push([...usualKeys(accountId), ...own]);
      }
      return lists;
    },
  };
}
