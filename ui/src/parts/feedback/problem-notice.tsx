/** Error of a failed call, with a retry button; an outage has a banner for all. */
import { ApiProblem } from '../../api/problem.ts';
import { Button } from '../controls/button.tsx';
import { Notice } from './notice.tsx';
import { isOutage, Waits } from './outage.tsx';
import styles from './problem-notice.module.css';

export interface ProblemNoticeProps {
  readonly error: unknown;
  readonly onRetry?: () => void;
}

export function ProblemNotice({ error, onRetry }: ProblemNoticeProps) {
  const { message } = error instanceof Error ? error : new Error(String(error));
  if (onRetry && isOutage(error)) return <Waits message={message} onRetry={onRetry} />;
  return (
    <Notice tone="danger">
      <div className={styles.row}>
        <p className={styles.words}>
          {message}
          {error instanceof ApiProblem && error.requestId !== '' && (
            <span className="quiet"> · request {error.requestId}</span>
          )}
        </p>
        {onRetry && !isRefusal(error) && <Button onPress={onRetry}>Try again</Button>}
      </div>
    </Notice>
  );
}

/** A retry with the same token would fail again. */
function isRefusal(error: unknown): boolean {
  return error instanceof ApiProblem && error.status === 403;
}
