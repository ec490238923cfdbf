/** Combobox that finds a metric by any part of its name. */
import { Combobox } from '@base-ui/react/combobox';
import styles from './metric-picker.module.css';

export interface MetricPickerProps {
  readonly names: readonly string[];
  readonly value: string;
  readonly onChange: (metric: string) => void;
}

/** Maximum of suggestions. */
const maxShown = 100;

export function MetricPicker({ names, value, onChange }: MetricPickerProps) {
  return (
    <Combobox.Root
      items={names}
      limit={maxShown}
      autoHighlight
      value={value === '' ? null : value}
      onValueChange={(metric) => onChange(metric ?? '')}
    >
      <label className={styles.label}>
        <span>Metric</span>
        <Combobox.Input className={styles.input} placeholder="Find a metric…" spellCheck={false} />
      </label>
      <Combobox.Portal>
        <Combobox.Positioner className={styles.positioner} sideOffset={4} align="start">
          <Combobox.Popup className={styles.popup}>
            <Combobox.Empty className={styles.empty}>
              No metric name contains this text.
            </Combobox.Empty>
            <Combobox.List>
              {(name: string) => (
                <Combobox.Item key={name} value={name} className={styles.item}>
                  {name}
                </Combobox.Item>
              )}
            </Combobox.List>
          </Combobox.Popup>
        </Combobox.Positioner>
      </Combobox.Portal>
    </Combobox.Root>
  );
}
