/** One banner for everything that waits for a service which is unavailable. */
import { useEffect, useEffectEvent, useSyncExternalStore } from 'react';
import { ApiProblem } from '../../api/problem.ts';
import { Button } from '../controls/button.tsx';
import { Notice } from './notice.tsx';
import styles from './problem-notice.module.css';

interface Waiting {
  readonly message: string;
  readonly retry: () => void;
}

let waiting: readonly Waiting[] = [];
const listeners = new Set<() => void>();

function change(next: readonly Waiting[]): void {
  waiting = next;
  for (const listener of listeners) listener();
}

/** The service is unreachable, or has no access to its data. */
export function isOutage(error: unknown): error is ApiProblem {
  return error instanceof ApiProblem && [0, 502, 503, 504].includes(error.status);
}

/** Shows the banner while mounted. */
export function Waits({ message, onRetry }: { message: string; onRetry: () => void }) {
  const retry = useEffectEvent(onRetry);
  useEffect(() => {
    const own = { message, retry };
    change([...waiting, own]);
    return () => change(waiting.filter((one) => one !== own));
  }, [message]);
  return <p className={styles.waits}>Waiting for the service</p>;
}

const everyMs = 5_000;

/** Retries all that waits, from time to time and on request. */
export function OutageBanner() {
  const [first] = useSyncExternalStore(subscribe, () => waiting);
  const isOut = first !== undefined;
  useEffect(() => {
    if (!isOut) return;
    const timer = setInterval(retryAll, everyMs);
    return () => clearInterval(timer);
  }, [isOut]);
  if (first === undefined) return null;
  return (
    <div className={styles.banner}>
      <Notice tone="danger">
        <div className={styles.row}>
          <p className={styles.words}>{first.message}. Trying again every few seconds.</p>
          <Button onPress={retryAll}>Try again</Button>
        </div>
      </Notice>
    </div>
  );
}

function retryAll(): void {
  for (const { retry } of waiting) retry();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
