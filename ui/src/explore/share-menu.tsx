/** Links: the query as it is, or the logs at this moment. */
import { useState } from 'react';
import { useApp } from '../app/context.ts';
import { toSharedLink } from '../app/session.ts';
import { Icon } from '../parts/controls/icon.tsx';
import { Popover } from '../parts/controls/popover.tsx';
import { useCopy } from '../parts/controls/use-copy.ts';
import { type ExploreQuery, formatQuery, type TimeBounds } from './query.ts';
import styles from './share-menu.module.css';

export interface ShareMenuProps {
  readonly query: ExploreQuery;
  readonly bounds: TimeBounds;
}

export function ShareMenu({ query, bounds }: ShareMenuProps) {
  const [isOpen, setIsOpen] = useState(false);
  const copy = useCopy();
  const { accountId } = useApp().session;
  const copyLink = (shared: ExploreQuery) => {
    setIsOpen(false);
    void copy(toSharedLink(location.pathname, formatQuery(shared), accountId), 'the link');
  };
  const { sinceTime: from, untilTime: until } = bounds;
  const moment: ExploreQuery = {
    ...query,
    range: { kind: 'absolute', from, until },
    isLive: false,
  };
  return (
    <Popover
      label="Share"
      align="end"
      isOpen={isOpen}
      onOpenChange={setIsOpen}
      trigger={<Icon name="share" />}
    >
      <div className={styles.panel}>
        {query.range.kind === 'relative' && (
          <button type="button" className={styles.choice} onClick={() => copyLink(query)}>
            <strong>Copy link to this query</strong>
            <span>Shows the latest logs when opened.</span>
          </button>
        )}
        <button type="button" className={styles.choice} onClick={() => copyLink(moment)}>
          <strong>Copy link to this moment</strong>
          <span>Shows the same time range to everyone.</span>
        </button>
        <p className={styles.note}>Recipients sign in with their own tokens.</p>
      </div>
    </Popover>
  );
}
