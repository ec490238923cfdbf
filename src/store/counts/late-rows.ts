/** Counts rows by their own time and that of their receipt. Parts received earlier are skipped. */
import type { LateRange } from '../../model/arrival.ts';
import type { LateRows } from '../../model/rules.ts';
import type { ReaderParts } from '../read-time.ts';
import {
  limitsSql,
  type Parameters,
  type ReadLimits,
  type Statement,
  statement,
} from '../sql/statement.ts';
import { ownerConditions } from '../sql/streams.ts';
import { tableName } from '../sql/tables.ts';

type Row = readonly [rows: string, maxDelayMs: string];

export async function readLateRows(
  { connection, database, limits }: ReaderParts,
  range: LateRange,
): Promise<LateRows> {
  const compiled = compileLateRows(database, range, limits);
  const [row] = await connection.read<Row>(compiled, { accountId: range.accountId });
  return { rows: Number(row?.[0] ?? 0), maxDelayMs: Number(row?.[1] ?? 0) };
}

const nanosPerMilli = 1_000_000n;

/** Unix ms in SQL, and a bound of the column of time. */
const columns = {
  logs: {
    time: 'Timestamp',
    timeMs: 'toUnixTimestamp64Milli(Timestamp)',
    receivedMs: 'toUnixTimestamp64Milli(ReceivedAt)',
    bound: (ms: bigint, params: Parameters) => params.time(ms * nanosPerMilli),
  },
  samples: {
    time: 'UnixMilli',
    timeMs: 'UnixMilli',
    // In whole seconds, rounded down.
    receivedMs: '(toInt64(toUnixTimestamp(ReceivedAt)) + 1) * 1000',
    bound: (ms: bigint, params: Parameters) => params.add('Int64', ms),
  },
} as const;

function compileLateRows(database: string, range: LateRange, limits: ReadLimits): Statement {
  const { accountId, stream, table } = range;
  const { time, timeMs, receivedMs, bound } = columns[table];
  const lateFrom = BigInt(Math.floor(range.receivedFromMs)) * nanosPerMilli;
  const kept = stream.receivedFromNanos;
  const late = { ...stream, receivedFromNanos: lateFrom > kept ? lateFrom : kept };
  const toBound = (ms: number, params: Parameters) =>
    bound(BigInt(Math.max(0, Math.floor(ms))), params);
  return statement((params) => {
    const owner = ownerConditions(table, { accountId, streams: [late] }, params);
    return `SELECT toString(count()), toString(max(${receivedMs} - ${timeMs}))
FROM ${tableName(database, table)}
WHERE ${owner.join('\n  AND ')}
  AND ${time} >= ${toBound(range.fromMs, params)}
  AND ${time} < ${toBound(range.untilMs, params)}
${limitsSql(limits)}`;
  });
}
