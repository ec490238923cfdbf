/** Time range: select, move, zoom out, refresh. */
import { useState } from 'react';
import { usePreferences } from '../../app/preferences.ts';
import { useShortcuts } from '../../parts/controls/shortcuts.ts';
import { AutoRefresh } from '../../parts/controls/auto-refresh.tsx';
import { Button } from '../../parts/controls/button.tsx';
import { Icon } from '../../parts/controls/icon.tsx';
import { Popover } from '../../parts/controls/popover.tsx';
import type { Range, TimeBounds } from '../query.ts';
import { formatRange, stepRange, zoomOut } from './range.ts';
import { RangeForm } from './range-form.tsx';
import styles from './range-picker.module.css';
import { serviceNowMs } from '../../api/service-clock.ts';

export interface RangePickerProps {
  readonly range: Range;
  readonly bounds: TimeBounds;
  readonly onRange: (range: Range) => void;
  readonly onRefresh: () => void;
}

export function RangePicker({ range, bounds, onRange, onRefresh }: RangePickerProps) {
  const { timeZone } = usePreferences();
  const [isOpen, setIsOpen] = useState(false);
  const step = (direction: 'earlier' | 'later') => onRange(stepRange(bounds, direction));
  const widen = () => onRange(zoomOut(range, bounds, serviceNowMs()));
  useShortcuts([
    { key: 'r', description: 'Refresh, up to now', group: 'Logs', run: onRefresh },
    { key: '[', description: 'Earlier', group: 'Logs', run: () => step('earlier') },
    { key: ']', description: 'Later', group: 'Logs', run: () => step('later') },
    { key: 'z', description: 'Zoom out', group: 'Logs', run: widen },
  ]);
  const words = formatRange(range, timeZone);
  return (
    <div className={styles.picker} role="group" aria-label="Time">
      <Button tone="bare" label="Earlier ( [ )" onPress={() => step('earlier')}>
        <Icon name="chevron-left" />
      </Button>
      <Popover
        label={`Time range: ${words}`}
        isOpen={isOpen}
        onOpenChange={setIsOpen}
        trigger={
          <>
            <span className={styles.decoration}>
              <Icon name="clock" />
            </span>
            <span className={styles.words}>
              {words}
              {range.kind === 'absolute' && timeZone === 'utc' && ' UTC'}
            </span>
            <span className={styles.decoration}>
              <Icon name="chevron-down" />
            </span>
          </>
        }
      >
        <RangeForm
          range={range}
          bounds={bounds}
          onRange={(next) => {
            setIsOpen(false);
            onRange(next);
          }}
        />
      </Popover>
      <Button tone="bare" label="Later ( ] )" onPress={() => step('later')}>
        <Icon name="chevron-right" />
      </Button>
      <span className={styles.widen}>
        <Button tone="bare" label="Zoom out ( z )" onPress={widen}>
          <Icon name="zoom-out" />
        </Button>
      </span>
      <Button tone="bare" label="Refresh ( r )" onPress={onRefresh}>
        <Icon name="refresh" />
      </Button>
      <AutoRefresh onRefresh={onRefresh} />
    </div>
  );
}
