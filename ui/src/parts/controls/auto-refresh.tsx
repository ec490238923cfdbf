/** Automatic refresh for wall screens; pauses in hidden tabs. */
import { useEffect, useEffectEvent, useState } from 'react';
import { Select } from './select.tsx';
import styles from './auto-refresh.module.css';

/** By seconds. */
const pauses = [
  ['0', 'Auto: off'],
  ['5', 'Auto: 5 s'],
  ['15', 'Auto: 15 s'],
  ['60', 'Auto: 1 min'],
  ['300', 'Auto: 5 min'],
] as const;

/** @param onRefresh is called while the tab is visible */
export function AutoRefresh({ onRefresh }: { onRefresh: () => void }) {
  const [seconds, setSeconds] = useState(0);
  const refresh = useEffectEvent(onRefresh);
  useEffect(() => {
    if (seconds === 0) return;
    const timer = setInterval(() => !document.hidden && refresh(), seconds * 1000);
    return () => clearInterval(timer);
  }, [seconds]);
  return (
    <Select
      className={styles.pause}
      label="Refresh"
      value={String(seconds)}
      choices={pauses}
      onChange={(value) => setSeconds(Number(value))}
    />
  );
}
