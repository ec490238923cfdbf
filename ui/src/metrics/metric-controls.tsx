/** Controls: metric, labels, range, values or rates. */
import { usePreferences } from '../app/preferences.ts';
import { Button } from '../parts/controls/button.tsx';
import { Icon } from '../parts/controls/icon.tsx';
import { LogText } from '../parts/text/log-text.tsx';
import { formatTime } from '../parts/text/time-text.ts';
import styles from './metric-controls.module.css';
import { MetricPicker } from './metric-picker.tsx';
import { type MetricQuery, type Span, spans } from './metric-query.ts';

export interface MetricControlsProps {
  readonly query: MetricQuery;
  readonly names: readonly string[];
  readonly onChange: (change: Partial<MetricQuery>) => void;
  readonly onRefresh: () => void;
  readonly onWiden: () => void;
}

export function MetricControls({ query, names, onChange, ...actions }: MetricControlsProps) {
  return (
    <>
      <div className={styles.row}>
        <MetricPicker
          names={names}
          value={query.metric}
          onChange={(metric) => onChange({ metric, labels: [] })}
        />
        <RangeSelect query={query} onChange={onChange} />
        <label className={styles.field}>
          Show
          <select
            value={query.mode}
            onChange={({ target }) => onChange({ mode: target.value as MetricQuery['mode'] })}
          >
            <option value="auto">automatic</option>
            <option value="value">values</option>
            <option value="rate">rate per second</option>
          </select>
        </label>
        <div className={styles.buttons}>
          <Button label="Zoom out (z)" onPress={actions.onWiden}>
            <Icon name="zoom-out" />
          </Button>
          <Button label="Refresh (r)" onPress={actions.onRefresh}>
            <Icon name="refresh" />
          </Button>
        </div>
      </div>
      <LabelChips query={query} onChange={onChange} />
    </>
  );
}

const spanWords: Readonly<Record<Span, string>> = {
  '15m': 'Last 15 minutes',
  '1h': 'Last hour',
  '6h': 'Last 6 hours',
  '24h': 'Last 24 hours',
  '7d': 'Last 7 days',
};

type ChangeProps = Pick<MetricControlsProps, 'query' | 'onChange'>;

function RangeSelect({ query: { range }, onChange }: ChangeProps) {
  const { timeZone } = usePreferences();
  const at = (ms: number) => formatTime(new Date(ms).toISOString(), timeZone).slice(0, 19);
  return (
    <label className={styles.field}>
      Range
      <select
        value={range.kind === 'relative' ? range.span : 'absolute'}
        onChange={({ target }) =>
          onChange({ range: { kind: 'relative', span: target.value as Span } })
        }
      >
        {range.kind === 'absolute' && (
          <option value="absolute">
            {at(range.fromMs)} to {at(range.untilMs)}
          </option>
        )}
        {(Object.keys(spans) as Span[]).map((span) => (
          <option key={span} value={span}>
            {spanWords[span]}
          </option>
        ))}
      </select>
    </label>
  );
}

function LabelChips({ query: { labels }, onChange }: ChangeProps) {
  if (labels.length === 0) return null;
  return (
    <ul className={styles.chips} aria-label="Filters by label">
      {labels.map((label) => (
        <li key={label.name} className={styles.chip}>
          <LogText text={`${label.name}="${label.value}"`} />
          <Button
            tone="bare"
            label={`Remove ${label.name}`}
            onPress={() => onChange({ labels: labels.filter((one) => one !== label) })}
          >
            <Icon name="close" />
          </Button>
        </li>
      ))}
    </ul>
  );
}
