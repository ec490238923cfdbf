/** Metrics to choose from while none is selected. */
import { Link } from 'wouter';
import { LogText } from '../parts/text/log-text.tsx';
import { Card } from '../parts/layout/page.tsx';
import { formatCount } from '../parts/text/time-text.ts';
import styles from './metric-list.module.css';

export interface MetricListProps {
  readonly names: readonly string[];
  readonly hrefOf: (metric: string) => string;
}

/** The search field finds the rest. */
const maxShown = 200;

export function MetricList({ names, hrefOf }: MetricListProps) {
  const count = names.length === 1 ? '1 metric' : `${formatCount(names.length)} metrics`;
  return (
    <Card title={`${count} in this time`}>
      <ul className={styles.list}>
        {names.slice(0, maxShown).map((name) => (
          <li key={name}>
            <Link href={hrefOf(name)}>
              <LogText text={name} />
            </Link>
          </li>
        ))}
      </ul>
      {names.length > maxShown && (
        <p>The first {maxShown}: find the others by any part of their names.</p>
      )}
    </Card>
  );
}
