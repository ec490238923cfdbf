/** The spans of a trace as bars over time. */
import { useContext } from 'react';
import { LogText } from '../../parts/text/log-text.tsx';
import { countOf } from '../../parts/text/time-text.ts';
import { cutText } from '../../parts/text/visible-text.ts';
import { ServiceColors } from '../service-color.ts';
import { formatDuration, type Span } from './trace.ts';
import styles from './waterfall.module.css';

export interface WaterfallProps {
  readonly spans: readonly Span[];
  /** Key of the span whose logs are shown; undefined = all. */
  readonly chosen: string | undefined;
  readonly onChoose: (key: string | undefined) => void;
}

const maxNameLength = 60;

export function Waterfall({ spans, chosen, onChoose }: WaterfallProps) {
  const serviceColor = useContext(ServiceColors);
  const lengthMs = Math.max(...spans.map(({ untilMs }) => untilMs), 0.001);
  return (
    <ol className={styles.spans} aria-label="Services of the trace">
      {spans.map(({ key, service, fromMs, untilMs, logs, errors }) => {
        const name = service === '' ? 'no service' : cutText(service, maxNameLength);
        const duration = formatDuration(untilMs - fromMs);
        const counts = [
          countOf(logs, 'log'),
          ...(errors > 0 ? [countOf(errors, 'error')] : []),
        ].join(', ');
        return (
          <li key={key}>
            <button
              type="button"
              className={styles.span}
              aria-pressed={key === chosen}
              onClick={() => onChoose(key === chosen ? undefined : key)}
            >
              <span className={styles.name}>
                <LogText text={name} />
              </span>
              <span className={styles.track}>
                <span
                  className={styles.bar}
                  style={{
                    left: `${(fromMs / lengthMs) * 100}%`,
                    width: `${((untilMs - fromMs) / lengthMs) * 100}%`,
                    background: `var(${serviceColor(service)})`,
                  }}
                />
              </span>
              <span className={styles.duration}>{duration}</span>
              <span className={errors > 0 ? styles.failed : styles.counts}>{counts}</span>
            </button>
          </li>
        );
      })}
    </ol>
  );
}
