/** Exemplars of known series within a range of time. Pure. */
import type { Exemplar, SamplesPlan } from '../../model/metric-plan.ts';
import type { Label } from '../../model/metric-plan.ts';
import { tableName } from './columns.ts';
import { rangeConditions, type SamplesStep } from './samples.ts';
import { toLabelPairs } from './series.ts';
import { limitsSql, Parameters, type Statement } from './statement.ts';

/** Series id, time, bits of the value (each in decimal digits), names and values of labels. */
export type ExemplarRow = readonly [string, string, string, readonly string[], readonly string[]];

/** By series and time; one that several streams have once. */
export function compileExemplars(
  database: string,
  plan: SamplesPlan,
  step: SamplesStep,
): Statement {
  const params = new Parameters();
  const { seriesIds } = step;
  const conditions = rangeConditions('exemplars', plan, { seriesIds, params });
  const sql = `SELECT
  toString(SeriesId), toString(UnixMilli), toString(reinterpretAsUInt64(Value)),
  mapKeys(Labels), mapValues(Labels)
FROM ${tableName(database, 'exemplars')} FINAL
WHERE ${conditions.join('\n  AND ')}
ORDER BY SeriesId, UnixMilli, Digest
LIMIT 1 BY SeriesId, UnixMilli, Digest
LIMIT ${step.limit}
${limitsSql(step.limits)},
  optimize_move_to_prewhere_if_final = 1`;
  return { sql, params: params.values };
}

export function toExemplar(seriesLabels: readonly Label[], row: ExemplarRow): Exemplar {
  const [, time, bits, names, values] = row;
  const double = new DataView(new ArrayBuffer(8));
  double.setBigUint64(0, BigInt(bits));
  return {
    seriesLabels,
    labels: toLabelPairs(names, values),
    timeMs: BigInt(time),
    value: double.getFloat64(0),
  };
}
