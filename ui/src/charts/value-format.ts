/** Numbers of metrics as text: compact, with their units, and as Prometheus writes them. Pure. */
import { roundSteps } from '../../../src/model/round-steps.ts';

/** In Go's form: `+Inf`. */
export function parseValue(text: string): number {
  return /^[+-]?Inf$/.test(text) ? (text.startsWith('-') ? -Infinity : Infinity) : Number(text);
}

/** For example `1.2 M`. */
export function formatValue(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '∞' : '−∞';
  const size = Math.abs(value);
  if (size !== 0 && size < 0.001) return value.toExponential(2);
  // The largest compact unit is T, for 1e12.
  if (size >= 1e15) return Number(value.toPrecision(5)).toExponential();
  // Without the sign of -0.
  return compact.format(value + 0);
}

const compact = new Intl.NumberFormat('en-US', {
  notation: 'compact',
  maximumSignificantDigits: 5,
});

/** @param unit such as `seconds` or `bytes`, also with `/s`; any other is not shown */
export function valueFormat(unit: string): (value: number) => string {
  if (unit === 'seconds') return formatSeconds;
  if (unit === 'bytes') return formatBinary;
  if (unit === 'bytes/s') return (value) => `${formatBinary(value)}/s`;
  return formatValue;
}

/**
 * Distances of ticks whose labels are round numbers of the unit.
 * @returns ascending; undefined = powers of ten and their halves and fifths
 */
export function tickSteps(unit: string): readonly number[] | undefined {
  if (unit === 'seconds') return secondSteps;
  return unit === 'bytes' || unit === 'bytes/s' ? byteSteps : undefined;
}

const fractions = [1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 0.001, 0.01, 0.1].flatMap((size) =>
  [1, 2, 5].map((count) => Number((count * size).toPrecision(1))),
);
const secondSteps = [
  ...fractions,
  ...roundSteps.filter((ms) => ms >= 1000 && ms <= 86_400_000).map((ms) => ms / 1000),
  ...[1, 10, 100, 1000, 10_000, 1e5, 1e6].flatMap((size) =>
    [2, 5, 10].map((count) => count * size * 86_400),
  ),
];
const byteSteps = [...fractions, ...Array.from({ length: 80 }, (_, power) => 2 ** power)];

function formatSeconds(value: number): string {
  const size = Math.abs(value);
  if (!Number.isFinite(value) || value === 0) return formatValue(value);
  if (size < 0.001) return `${round(value * 1e6)} µs`;
  if (size < 1) return `${round(value * 1000)} ms`;
  if (size < 120) return `${round(value)} s`;
  if (size < 7200) return `${round(value / 60)} min`;
  return size < 172_800 ? `${round(value / 3600)} h` : `${round(value / 86_400)} d`;
}

const binaryUnits = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

function formatBinary(value: number): string {
  if (!Number.isFinite(value)) return formatValue(value);
  let [shown, at] = [value, 0];
  while (Math.abs(shown) >= 1024 && at < binaryUnits.length - 1) {
    shown /= 1024;
    at += 1;
  }
  return `${round(shown)} ${binaryUnits[at]!}`;
}

function round(value: number): string {
  return String(Number(value.toPrecision(4)));
}
