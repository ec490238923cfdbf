/** The logs that the query finds. */
import type { ExploreQuery, Filter, TimeBounds } from '../query.ts';

export interface ResultsProps {
  readonly query: ExploreQuery;
  readonly bounds: TimeBounds;
  readonly onChange: (change: Partial<ExploreQuery>) => void;
  readonly onFilter: (filter: Filter) => void;
}

export function Results({ bounds }: ResultsProps) {
  return (
    <p>
      Logs from {bounds.sinceTime} until {bounds.untilTime}
    </p>
  );
}
