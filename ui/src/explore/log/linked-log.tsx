/** The log of a link, above the list: it may be outside the range or the filters. */
import { useQuery } from '@tanstack/react-query';
import { dataOf } from '../../api/client.ts';
import type { Log } from '../../api/models.ts';
import { ApiProblem } from '../../api/problem.ts';
import { useApp } from '../../app/context.ts';
import { Button } from '../../parts/controls/button.tsx';
import { Icon } from '../../parts/controls/icon.tsx';
import { Notice } from '../../parts/feedback/notice.tsx';
import { ProblemNotice } from '../../parts/feedback/problem-notice.tsx';
import type { Zone } from '../../parts/text/time-text.ts';
import type { LogActions } from './log-actions.ts';
import { LogDetail } from './log-detail.tsx';
import styles from './linked-log.module.css';

export interface LinkedLogProps {
  readonly logId: string;
  readonly zone: Zone;
  readonly actions: LogActions;
  readonly onClose: () => void;
}

export function LinkedLog({ logId, zone, actions, onClose }: LinkedLogProps) {
  const { api } = useApp();
  const { data, error, refetch } = useQuery({
    queryKey: ['log', logId],
    staleTime: Infinity,
    queryFn: ({ signal }): Promise<Log> =>
      dataOf(api.GET('/api/v1/logs/{logId}', { params: { path: { logId } }, signal })),
  });
  return (
    <section className={styles.linked} aria-label="Linked log">
      <header className={styles.head}>
        <h2 className={styles.title}>Linked log</h2>
        <Button tone="bare" label="Close the linked log" onPress={onClose}>
          <Icon name="close" />
        </Button>
      </header>
      <div className={styles.body}>
        {error !== null && <Missing error={error} onRetry={() => void refetch()} />}
        {data !== undefined && <LogDetail log={data} zone={zone} actions={actions} />}
      </div>
    </section>
  );
}

function Missing({ error, onRetry }: { error: Error; onRetry: () => void }) {
  if (!(error instanceof ApiProblem) || error.status !== 404) {
    return <ProblemNotice error={error} onRetry={onRetry} />;
  }
  return (
    <Notice tone="warning">
      Log not found: its retention has ended, it was deleted, or it belongs to another account.
    </Notice>
  );
}
