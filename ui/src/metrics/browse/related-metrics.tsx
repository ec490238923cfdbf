/** Metrics that have the labels of a log: what its service, host or pod reports. */
import { Link } from 'wouter';
import { labelsOfField } from '../../links/label-fields.ts';
import { Loading } from '../../parts/feedback/loading.tsx';
import { Notice } from '../../parts/feedback/notice.tsx';
import { ProblemNotice } from '../../parts/feedback/problem-notice.tsx';
import { Card } from '../../parts/layout/page.tsx';
import { LogText } from '../../parts/text/log-text.tsx';
import { type LabelFilter, printBuilt } from '../build/built-query.ts';
import type { Labels } from '../chart/plotted-series.ts';
import type { Bounds, RelatedField } from '../metric-query.ts';
import { useSeries } from '../metric-reads.ts';
import { defaultQueryOf, type MetricFamily } from './metric-families.ts';
import styles from './metric-browser.module.css';

export interface RelatedMetricsProps {
  readonly related: RelatedField;
  readonly families: readonly MetricFamily[];
  readonly bounds: Bounds;
  readonly hrefOf: (query: string) => string;
}

/** The first are enough to know which metrics there are. */
const maxSeries = 2_000;

const titles: Readonly<Record<string, string>> = {
  serviceName: 'service',
  host: 'host',
  k8sNamespace: 'namespace',
  k8sPod: 'pod',
};

export function RelatedMetrics({ related, families, bounds, hrefOf }: RelatedMetricsProps) {
  const { field, value } = related;
  const candidates = candidatesOf(related);
  const series = useSeries(candidates.map(toSelector), bounds, maxSeries);
  const title = `Metrics of ${titles[field] ?? field} ${value}`;
  if (series.isError) {
    return <ProblemNotice error={series.error} onRetry={() => void series.refetch()} />;
  }
  if (series.data === undefined) return <Loading what={title} />;
  const found = families.flatMap((family) => {
    const filter = filterOf(family.metric, series.data, candidates);
    return filter === undefined ? [] : [{ family, filter }];
  });
  return (
    <Card title={title}>
      {found.length === 0 && (
        <Notice tone="quiet">
          No series has {value} as {candidates.map(({ name }) => name).join(', ')} in this time.
        </Notice>
      )}
      <ul className={styles.related}>
        {found.map(({ family, filter }) => (
          <li key={family.name}>
            <Link
              href={hrefOf(
                printBuilt({ ...defaultQueryOf(family.metric, family.type), filters: [filter] }),
              )}
            >
              <LogText text={family.name} />
            </Link>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function candidatesOf({ field, value }: RelatedField): LabelFilter[] {
  return (labelsOfField[field] ?? []).map((name) =>
    name === 'instance'
      ? { name, op: '=~', value: `${value.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}(:[0-9]+)?` }
      : { name, op: '=', value },
  );
}

function toSelector({ name, op, value }: LabelFilter): string {
  return `{${name}${op}${JSON.stringify(value)}}`;
}

/** The first candidate that a series of this metric matches. */
function filterOf(
  metric: string,
  series: readonly Labels[],
  candidates: readonly LabelFilter[],
): LabelFilter | undefined {
  const own = series.filter(({ __name__: name }) => name === metric);
  return candidates.find(({ name, op, value }) => {
    const pattern = op === '=~' ? new RegExp(`^(?:${value})$`, 'u') : undefined;
    return own.some(({ [name]: found = '' }) => pattern?.test(found) ?? found === value);
  });
}
