/** The border around the editor of a query, which is loaded later. */
import { type ReactNode, Suspense } from 'react';
import styles from './query-frame.module.css';
import type { EditedQuery } from './use-query-draft.ts';

export interface QueryFrameProps {
  readonly query: EditedQuery;
  readonly start?: ReactNode;
  readonly end?: ReactNode;
  /** The editor. */
  readonly children: ReactNode;
}

export function QueryFrame({ query, start, end, children }: QueryFrameProps) {
  return (
    <div className={styles.frame} data-has-fault={query.fault !== undefined}>
      {start}
      <div className={styles.editor}>
        <Suspense fallback={<div className={styles.loading}>{query.text}</div>}>
          {children}
        </Suspense>
      </div>
      {end}
    </div>
  );
}
