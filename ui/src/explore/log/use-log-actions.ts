/** Actions of the result list; a stable value until the query changes. */
import { useMemo, useRef } from 'react';
import type { Log } from '../../api/models.ts';
import { useApp } from '../../app/context.ts';
import { toSharedLink } from '../../app/session.ts';
import { type ExploreQuery, formatQuery } from '../query.ts';
import { type Filter, withCondition } from '../terms.ts';
import type { LogActions } from './log-actions.ts';

export interface LogActionParts {
  readonly query: ExploreQuery;
  readonly onChange: (change: Partial<ExploreQuery>) => void;
  readonly onFilter: (filter: Filter) => void;
  readonly onContext: (log: Log) => void;
}

export function useLogActions(parts: LogActionParts): LogActions {
  const { accountId } = useApp().session;
  const latest = useRef(parts);
  latest.current = parts;
  return useMemo(
    () => ({
      filter: (filter) => latest.current.onFilter(filter),
      addCondition(condition, isExcluded) {
        const { query, onChange } = latest.current;
        onChange({ text: withCondition(query.text, condition, isExcluded) });
      },
      addColumn(name) {
        const { query, onChange } = latest.current;
        if (!query.columns.includes(name)) onChange({ columns: [...query.columns, name] });
      },
      showContext: (log) => latest.current.onContext(log),
      linkTo(log) {
        const query = { ...latest.current.query, isLive: false, openLogId: log.logId };
        return toSharedLink(location.pathname, formatQuery(query), accountId);
      },
    }),
    [accountId],
  );
}
