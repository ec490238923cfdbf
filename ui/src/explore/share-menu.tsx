/** Links: the query as it is, or the logs at this moment. */
import { useState } from 'react';
import { useApp } from '../app/context.ts';
import { toSharedLink } from '../app/session.ts';
import { Icon } from '../parts/controls/icon.tsx';
import { Popover } from '../parts/controls/popover.tsx';
import { useToast } from '../parts/feedback/toasts.tsx';
import { type ExploreQuery, formatQuery, type TimeBounds } from './query.ts';
import styles from './share-menu.module.css';

export interface ShareMenuProps {
  readonly query: ExploreQuery;
  readonly bounds: TimeBounds;
}

export function ShareMenu({ query, bounds }: ShareMenuProps) {
  const [isOpen, setIsOpen] = useState(false);
  const toast = useToast();
  const { accountId } = useApp().session;
  const copy = async (shared: ExploreQuery) => {
    setIsOpen(false);
    const url = toSharedLink(location.pathname, formatQuery(shared), accountId);
    try {
      await navigator.clipboard.writeText(url);
      toast('Copied the link');
    } catch {
      toast('This browser did not allow copying: copy the link from the address bar');
    }
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
          <button type="button" className={styles.choice} onClick={() => void copy(query)}>
            <strong>Copy link to this query</strong>
            <span>Shows the latest logs when opened.</span>
          </button>
        )}
        <button type="button" className={styles.choice} onClick={() => void copy(moment)}>
          <strong>Copy link to this moment</strong>
          <span>Shows the same time range to everyone.</span>
        </button>
        <p className={styles.note}>Recipients sign in with their own tokens.</p>
      </div>
    </Popover>
  );
}
