/** Alerts as rows of a time axis: when each was pending and firing. */
import { usePreferences } from '../app/preferences.ts';
import { TimeAxis } from '../charts/time-axis.tsx';
import { formatSpan, type Zone } from '../parts/text/time-text.ts';
import { useWidth } from '../charts/use-width.ts';
import { LogText } from '../parts/text/log-text.tsx';
import type { AlertHistory, Span } from './alert-spans.ts';
import styles from './state-timeline.module.css';

export interface StateTimelineProps {
  /** Accessible name. */
  readonly label: string;
  readonly histories: readonly AlertHistory[];
  /** Unix ms. */
  readonly fromMs: number;
  readonly untilMs: number;
}

export function StateTimeline({ label, histories, fromMs, untilMs }: StateTimelineProps) {
  const { timeZone } = usePreferences();
  const [axis, width] = useWidth();
  const ratio = (ms: number) =>
    (Math.min(Math.max(ms, fromMs), untilMs) - fromMs) / Math.max(1, untilMs - fromMs);
  return (
    <div className={styles.timeline}>
      <ul className={styles.rows} aria-label={label}>
        {histories.map(({ key, name, labels, spans }) => (
          <li key={key} className={styles.row}>
            <span className={styles.name}>
              <strong>
                <LogText text={name} />
              </strong>{' '}
              <span className={styles.labels}>
                <LogText text={labels.map(([one, value]) => `${one}="${value}"`).join(' ')} />
              </span>
            </span>
            <span className={styles.track}>
              {spans.map((span) => (
                <span
                  key={`${span.state} ${span.fromMs}`}
                  className={styles[span.state]}
                  title={wordsOf(span, timeZone)}
                  style={{
                    // Short alerts remain visible, at the end too.
                    left: `min(${ratio(span.fromMs) * 100}%, 100% - 4px)`,
                    width: `${(ratio(span.untilMs) - ratio(span.fromMs)) * 100}%`,
                  }}
                />
              ))}
            </span>
            <span className="only-read">
              {spans.map((span) => wordsOf(span, timeZone)).join(', ')}
            </span>
          </li>
        ))}
      </ul>
      <div className={styles.axis} ref={axis}>
        <TimeAxis startMs={fromMs} endMs={untilMs} width={width} zone={timeZone} />
      </div>
      <p className={styles.legend} aria-hidden="true">
        <span className={styles.pendingKey} /> pending <span className={styles.firingKey} /> firing
      </p>
    </div>
  );
}

function wordsOf({ state, fromMs, untilMs }: Span, zone: Zone): string {
  return `${state} ${formatSpan(fromMs, untilMs, zone)}`;
}
