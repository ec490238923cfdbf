/** Relative time that updates itself; the absolute time as a tooltip. */
import { useEffect, useState } from 'react';
import { formatAgo } from './time-text.ts';
import { serviceNowMs } from '../../api/service-clock.ts';

export interface AgoProps {
  /** ISO time; null = never. */
  readonly at: string | null;
  /** Text for null. Default `never`. */
  readonly never?: string;
}

export function Ago({ at, never = 'never' }: AgoProps) {
  const nowMs = useNow();
  if (at === null) return <span>{never}</span>;
  return (
    <time dateTime={at} title={at}>
      {formatAgo(at, nowMs)}
    </time>
  );
}

const everyMs = 5_000;

/** Current Unix ms, updated every few seconds. */
function useNow(): number {
  const [, setTick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setTick((tick) => tick + 1), everyMs);
    return () => clearInterval(timer);
  }, []);
  return serviceNowMs();
}
