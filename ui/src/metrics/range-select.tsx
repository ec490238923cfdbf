/** Time range: select, zoom out, refresh. */
import { usePreferences } from '../app/preferences.ts';
import { AutoRefresh } from '../parts/controls/auto-refresh.tsx';
import { Button } from '../parts/controls/button.tsx';
import { Icon } from '../parts/controls/icon.tsx';
import { Select } from '../parts/controls/select.tsx';
import { formatTime } from '../parts/text/time-text.ts';
import { type MetricRange, type Span, spans } from './metric-query.ts';

export interface RangeSelectProps {
  readonly range: MetricRange;
  readonly onRange: (range: MetricRange) => void;
  readonly onWiden: () => void;
  readonly onRefresh: () => void;
}

const spanWords: Readonly<Record<Span, string>> = {
  '15m': 'Last 15 minutes',
  '1h': 'Last hour',
  '3h': 'Last 3 hours',
  '6h': 'Last 6 hours',
  '12h': 'Last 12 hours',
  '24h': 'Last 24 hours',
  '2d': 'Last 2 days',
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
};

export function RangeSelect({ range, onRange, onWiden, onRefresh }: RangeSelectProps) {
  const { timeZone } = usePreferences();
  const at = (ms: number) => formatTime(new Date(ms).toISOString(), timeZone).slice(0, 19);
  return (
    <>
      <Select
        label="Time range"
        value={range.kind === 'relative' ? range.span : 'absolute'}
        choices={[
          ...(range.kind === 'relative'
            ? []
            : [['absolute', `${at(range.fromMs)} to ${at(range.untilMs)}`] as const]),
          ...(Object.keys(spans) as Span[]).map((span) => [span, spanWords[span]] as const),
        ]}
        onChange={(span) => span !== 'absolute' && onRange({ kind: 'relative', span })}
      />
      <Button label="Zoom out ( z )" onPress={onWiden}>
        <Icon name="zoom-out" />
      </Button>
      <Button label="Refresh ( r )" onPress={onRefresh}>
        <Icon name="refresh" />
      </Button>
      <AutoRefresh onRefresh={onRefresh} />
    </>
  );
}
