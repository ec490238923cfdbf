/** Automatic refresh for wall screens; pauses in hidden tabs. */
import { useEffect, useRef, useState } from 'react';
import styles from './auto-refresh.module.css';

const pauses = [
  [0, 'Auto: off'],
  [5, 'Auto: 5 s'],
  [15, 'Auto: 15 s'],
  [60, 'Auto: 1 min'],
  [300, 'Auto: 5 min'],
] as const;

/** @param onRefresh is called while the tab is visible */
export function AutoRefresh({ onRefresh }: { onRefresh: () => void }) {
  const [seconds, setSeconds] = useState(0);
  const latest = useRef(onRefresh);
  useEffect(() => {
    latest.current = onRefresh;
  });
  useEffect(() => {
    if (seconds === 0) return;
    const timer = setInterval(() => !document.hidden && latest.current(), seconds * 1000);
    return () => clearInterval(timer);
  }, [seconds]);
  return (
    <select
      className={styles.pause}
      aria-label="Refresh"
      value={seconds}
      onChange={({ target }) => setSeconds(Number(target.value))}
    >
      {pauses.map(([value, label]) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </select>
  );
}
