/** All metrics with type, unit and description, and a search over them. */
import { useState } from 'react';
import { Link } from 'wouter';
import { Badge } from '../../parts/feedback/badge.tsx';
import { Notice } from '../../parts/feedback/notice.tsx';
import { LogText } from '../../parts/text/log-text.tsx';
import { formatCount } from '../../parts/text/time-text.ts';
import { printBuilt } from '../build/built-query.ts';
import { defaultQueryOf, type MetricFamily, searchFamilies } from './metric-families.ts';
import styles from './metric-browser.module.css';

export interface MetricBrowserProps {
  readonly families: readonly MetricFamily[];
  /** Where a query of a metric is shown. */
  readonly hrefOf: (query: string) => string;
  /** A metric was chosen. */
  readonly onOpen?: () => void;
}

/** The search finds the rest. */
const maxShown = 200;

export function MetricBrowser({ families, hrefOf, onOpen }: MetricBrowserProps) {
  const [text, setText] = useState('');
  const found = searchFamilies(families, text);
  return (
    <div className={styles.browser}>
      <input
        type="search"
        aria-label="Search metrics"
        placeholder="Name, description, type or unit"
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      <p role="status" className="quiet">
        {found.length === families.length
          ? `${formatCount(found.length)} metrics in this time`
          : `${formatCount(found.length)} of ${formatCount(families.length)} metrics`}
        {found.length > maxShown && `, the first ${maxShown} are listed`}
      </p>
      {found.length === 0 && <Notice tone="quiet">No metric matches this text.</Notice>}
      <ul className={styles.list}>
        {found.slice(0, maxShown).map((family) => (
          <li key={family.name} className={styles.family}>
            <Link
              href={hrefOf(printBuilt(defaultQueryOf(family.metric, family.type)))}
              onClick={() => onOpen?.()}
            >
              <LogText text={family.name} />
            </Link>
            <span className={styles.kind}>
              {family.type !== 'unknown' && <Badge tone="quiet">{family.type}</Badge>}
              {family.unit}
            </span>
            {family.help !== '' && (
              <span className={styles.help}>
                <LogText text={family.help} />
              </span>
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}
