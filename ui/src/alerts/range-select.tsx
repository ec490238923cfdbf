/** Ranges up to now. */
import { Select } from '../parts/controls/select.tsx';

const hourMs = 3_600_000;
export const ranges = {
  '1h': { words: 'Last hour', ms: hourMs },
  '6h': { words: 'Last 6 hours', ms: 6 * hourMs },
  '24h': { words: 'Last 24 hours', ms: 24 * hourMs },
  '7d': { words: 'Last 7 days', ms: 168 * hourMs },
  '30d': { words: 'Last 30 days', ms: 720 * hourMs },
} as const;
export type RangeName = keyof typeof ranges;

const choices = Object.entries(ranges).map(
  ([name, { words }]) => [name as RangeName, words] as const,
);

export interface RangeSelectProps {
  /** Accessible name. */
  readonly label: string;
  readonly value: RangeName;
  readonly onChange: (range: RangeName) => void;
}

export function RangeSelect({ label, value, onChange }: RangeSelectProps) {
  return <Select label={label} value={value} choices={choices} onChange={onChange} />;
}
