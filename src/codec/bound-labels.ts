/** `le` of classic histograms and `quantile` of summaries, spelled as Prometheus 3 spells them. */
import type { Label } from '../model/metric-plan.ts';
import { metricNameLabel } from '../model/metric-plan.ts';
import { decimal } from '../std/decimal.ts';

/**
 * Spells the bounds of a scraped series in one way: `1` and `1.00` become `1.0`, so that a bucket
 * stays one series when its application changes the spelling. Other labels stay as they are.
 * Source: the scrape loop of Prometheus 3 (https://prometheus.io/docs/prometheus/3.0/migration).
 */
export function spellBounds(labels: readonly Label[]): Label[] {
  const isBucket = labels.some(
    ([name, value]) => name === metricNameLabel && value.endsWith('_bucket'),
  );
  return labels.map((label) => {
    const [name, value] = label;
    if (name === 'le' && isBucket) return [name, toBound(value)];
    return name === 'quantile' && isShare(value) ? [name, toBound(value)] : label;
  });
}

/** Labels of this name in other series may be percentages. */
function isShare(text: string): boolean {
  return Number(text) >= 0 && Number(text) <= 1;
}

const infinite = /^([+-]?)inf(?:inity)?$/i;

/** Texts that are no decimal numbers stay as they are. */
function toBound(text: string): string {
  const sign = infinite.exec(text)?.[1];
  if (sign !== undefined) return sign === '-' ? '-Inf' : '+Inf';
  const value = Number(text);
  if (!decimal.test(text) || !Number.isFinite(value)) return text;
  if (value === 0) return '0.0';
  const size = Math.abs(value);
  if (size < 1e-4 || size >= 1e6) {
    return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
  }
  return Number.isInteger(value) ? `${value}.0` : String(value);
}
