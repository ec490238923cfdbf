/** Shown when there are no metrics, or none in the range. */
import { Link } from 'wouter';
import { Notice } from '../parts/feedback/notice.tsx';

export function NoMetrics() {
  return (
    <Notice tone="quiet">
      No metric has samples in this time range. Choose a longer range, or{' '}
      <Link href="/receivers">send some</Link>: a receiver of kind Prometheus accepts remote_write
      and text pushes.
    </Notice>
  );
}
