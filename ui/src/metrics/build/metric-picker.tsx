/** Combobox that finds a metric by any part of its name or description. */
import { Combobox } from '@base-ui/react/combobox';
import { type MetricFamily, searchFamilies } from '../browse/metric-families.ts';
import styles from './metric-picker.module.css';

export interface MetricPickerProps {
  readonly families: readonly MetricFamily[];
  /** Empty = none. */
  readonly value: string;
  readonly onChange: (metric: string) => void;
}

/** Maximum of suggestions. */
const maxShown = 100;

export function MetricPicker({ families, value, onChange }: MetricPickerProps) {
  const byMetric = new Map(families.map((family) => [family.metric, family]));
  const names = [...byMetric.keys()];
  return (
    <Combobox.Root
      items={byMetric.has(value) || value === '' ? names : [value, ...names]}
      limit={maxShown}
      autoHighlight
      value={value === '' ? null : value}
      filter={(metric: string, text) => {
        const family = byMetric.get(metric);
        return family === undefined
          ? metric.includes(text)
          : searchFamilies([family], text).length > 0;
      }}
      onValueChange={(metric) => {
        if (metric !== null) onChange(metric);
      }}
    >
      <label className={styles.label}>
        <span>Metric</span>
        <Combobox.Input className={styles.input} placeholder="Find a metric…" spellCheck={false} />
      </label>
      <Combobox.Portal>
        <Combobox.Positioner className={styles.positioner} sideOffset={4} align="start">
          <Combobox.Popup className={styles.popup}>
            <Combobox.Empty className={styles.empty}>No metric matches this text.</Combobox.Empty>
            <Combobox.List>
              {(metric: string) => (
                <Combobox.Item key={metric} value={metric} className={styles.item}>
                  {metric} <span className={styles.type}>{byMetric.get(metric)?.type}</span>
                </Combobox.Item>
              )}
            </Combobox.List>
          </Combobox.Popup>
        </Combobox.Positioner>
      </Combobox.Portal>
    </Combobox.Root>
  );
}
