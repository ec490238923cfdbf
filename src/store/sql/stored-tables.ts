/**
 * The tables of what accounts have sent, each partitioned by the day of receipt: what reads, and
 * what frees disk, must know of all of them alike.
 */

export const storedTables = [
  'logs',
  'samples',
  'histograms',
  'exemplars',
  'metric_metadata',
  'series',
] as const;
export type StoredTable = (typeof storedTables)[number];

/** Of `ReceivedAt`: a DateTime64(9), or a DateTime, which is the second that had begun. */
export type ReceiptPrecision = 'nanos' | 'seconds';

export function receiptPrecision(table: StoredTable): ReceiptPrecision {
  return table === 'samples' ? 'seconds' : 'nanos';
}

/**
 * Of a cluster: which shard has a row. All rows of a series and its labels stand on one, so that
 * `FINAL` there sees all that replace each other; a batch of logs stays together.
 */
export const shardingKeys: Readonly<Record<StoredTable, string>> = {
  logs: 'cityHash64(Batch)',
  samples: 'cityHash64(SeriesId)',
  histograms: 'cityHash64(SeriesId)',
  exemplars: 'cityHash64(SeriesId)',
  series: 'cityHash64(SeriesId)',
  metric_metadata: 'cityHash64(AccountId, MetricName)',
};

const msPerHour = 3_600_000;

/**
 * How much longer than others the rows of a table are needed. Labels are written with the first
 * sample of a day of receipt, so a day before some of their samples, and an hour more for requests
 * that began on the day before.
 */
export function keptLongerMs(table: StoredTable): number {
  return table === 'series' ? 25 * msPerHour : 0;
}
