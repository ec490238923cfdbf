/** Ranges up to now. */

const hourMs = 3_600_000;
export const ranges = {
  '1h': { words: 'Last hour', ms: hourMs },
  '6h': { words: 'Last 6 hours', ms: 6 * hourMs },
  '24h': { words: 'Last 24 hours', ms: 24 * hourMs },
  '7d': { words: 'Last 7 days', ms: 168 * hourMs },
  '30d': { words: 'Last 30 days', ms: 720 * hourMs },
} as const;
export type RangeName = keyof typeof ranges;

export interface RangeSelectProps {
  /** Accessible name. */
  readonly label: string;
  readonly value: RangeName;
  readonly onChange: (range: RangeName) => void;
}

export function RangeSelect({ label, value, onChange }: RangeSelectProps) {
  return (
    <select
      aria-label={label}
      value={value}
      onChange={({ target }) => onChange(target.value as RangeName)}
    >
      {Object.entries(ranges).map(([name, { words }]) => (
        <option key={name} value={name}>
          {words}
        </option>
      ))}
    </select>
  );
}
