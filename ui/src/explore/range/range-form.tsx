/** Panel of the time range: presets, custom span, absolute range. */
import { useId, useState } from 'react';
import { changePreferences, usePreferences } from '../../app/preferences.ts';
import { Button } from '../../parts/controls/button.tsx';
import type { Range, TimeBounds } from '../query.ts';
import { editedMoment, momentText, parseSpanWords, presets, spanWords } from './range.ts';
import styles from './range-form.module.css';
import { serviceNowMs } from '../../api/service-clock.ts';

export interface RangeFormProps {
  readonly range: Range;
  readonly bounds: TimeBounds;
  readonly onRange: (range: Range) => void;
}

export function RangeForm({ range, bounds, onRange }: RangeFormProps) {
  const { timeZone } = usePreferences();
  const chosen = range.kind === 'relative' ? range.span : undefined;
  return (
    <div className={styles.form}>
      <ul className={styles.presets} aria-label="Ranges up to now">
        {presets.map((span) => (
          <li key={span}>
            <Button
              tone="bare"
              isPressed={span === chosen}
              onPress={() => onRange({ kind: 'relative', span })}
            >
              {spanWords(span).replace(/^([a-z])/, '1 $1')}
            </Button>
          </li>
        ))}
      </ul>
      <SpanForm onRange={onRange} />
      {/* Remounted per time zone, which formats the same times differently. */}
      <MomentsForm key={timeZone} bounds={bounds} onRange={onRange} />
      <label className={styles.zone}>
        <input
          type="checkbox"
          checked={timeZone === 'utc'}
          onChange={({ target }) =>
            changePreferences({ timeZone: target.checked ? 'utc' : 'local' })
          }
        />
        Times in UTC
      </label>
    </div>
  );
}

function SpanForm({ onRange }: Pick<RangeFormProps, 'onRange'>) {
  const [text, setText] = useState('');
  const [isWrong, setIsWrong] = useState(false);
  const faultId = useId();
  return (
    <form
      className={styles.row}
      onSubmit={(event) => {
        event.preventDefault();
        const span = parseSpanWords(text);
        setIsWrong(span === undefined);
        if (span !== undefined) onRange({ kind: 'relative', span });
      }}
    >
      <label className={styles.field}>
        Last
        <input
          value={text}
          placeholder="90m, 36h, 3 days"
          autoComplete="off"
          aria-invalid={isWrong}
          aria-describedby={faultId}
          onChange={({ target }) => setText(target.value)}
        />
      </label>
      <Button type="submit">Apply</Button>
      <p id={faultId} className={styles.fault} role="alert">
        {isWrong && 'Enter a number and s, m, h, d or w, up to ten years.'}
      </p>
    </form>
  );
}

function MomentsForm({ bounds, onRange }: Pick<RangeFormProps, 'bounds' | 'onRange'>) {
  const { timeZone } = usePreferences();
  // The times that the fields began with.
  const [{ sinceTime, untilTime }] = useState(bounds);
  const [from, setFrom] = useState(() => momentText(sinceTime, timeZone));
  const [until, setUntil] = useState(() => momentText(untilTime, timeZone));
  const [fault, setFault] = useState('');
  const faultId = useId();
  const apply = () => {
    const at = { zone: timeZone, nowMs: serviceNowMs() };
    const fromMs = editedMoment(from, sinceTime, at);
    const untilMs = editedMoment(until, untilTime, at);
    if (fromMs === undefined || untilMs === undefined) {
      const wrong = fromMs === undefined ? from : until;
      setFault(`“${wrong}” is not a time: enter 2026-04-01 08:30, now, now-1h or a timestamp.`);
    } else if (fromMs >= untilMs) {
      setFault('The end must be after the start.');
    } else {
      const [fromIso, untilIso] = [fromMs, untilMs].map((ms) => new Date(ms).toISOString());
      onRange({ kind: 'absolute', from: fromIso!, until: untilIso! });
    }
  };
  const inputOf = (label: string, value: string, set: (text: string) => void) => (
    <label className={styles.field}>
      {label}
      <input
        value={value}
        autoComplete="off"
        spellCheck={false}
        aria-invalid={fault !== ''}
        aria-describedby={faultId}
        onChange={({ target }) => set(target.value)}
      />
    </label>
  );
  return (
    <form
      className={styles.moments}
      onSubmit={(event) => {
        event.preventDefault();
        apply();
      }}
    >
      {inputOf('From', from, setFrom)}
      {inputOf('Until', until, setUntil)}
      <Button type="submit" tone="primary">
        Apply
      </Button>
      <p id={faultId} className={styles.fault} role="alert">
        {fault}
      </p>
    </form>
  );
}
