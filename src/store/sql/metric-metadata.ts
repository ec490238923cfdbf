/** Type, unit and help of metrics, as they were last sent. Pure. */
import type { MetadataPlan, MetricMetadata } from '../../model/metric-plan.ts';
import { tableName } from './columns.ts';
import { limitsSql, Parameters, type ReadLimits, type Statement } from './statement.ts';
import { ownerConditions } from './streams.ts';

export type MetadataRow = readonly [name: string, type: string, unit: string, help: string];

export function compileMetadata(
  database: string,
  plan: MetadataPlan,
  limits: ReadLimits,
): Statement {
  const params = new Parameters();
  const { metric } = plan;
  const conditions = [
    ...ownerConditions('metric_metadata', plan, params),
    ...(metric === undefined ? [] : [`MetricName = ${params.add('String', metric)}`]),
  ];
  const sql = `SELECT MetricName, Type, Unit, Help
FROM ${tableName(database, 'metric_metadata')} FINAL
WHERE ${conditions.join('\n  AND ')}
ORDER BY MetricName, ReceivedAt DESC
LIMIT 1 BY MetricName
LIMIT ${plan.limit}
${limitsSql(limits)}`;
  return { sql, params: params.values };
}

export function toMetadata([name, type, unit, help]: MetadataRow): MetricMetadata {
  return { name, type: type === '' ? 'unknown' : type, unit, help };
}
