/** Accepted and refused over time. */
import type { Statistics } from '../api/models.ts';
import { formatCount } from '../parts/time-text.ts';

export function StatusChart({ statistics }: { statistics: Statistics }) {
  const busy = statistics.buckets.filter(({ requests }) => requests > 0);
  if (busy.length === 0) return <p>Nothing was sent in this time.</p>;
  return (
    <ul>
      {busy.map(({ startTime, accepted, rejected, refused }) => (
        <li key={startTime}>
          {startTime}: {formatCount(accepted)} accepted, {formatCount(rejected + refused)} refused
        </li>
      ))}
    </ul>
  );
}
