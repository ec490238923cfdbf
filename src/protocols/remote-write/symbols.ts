/** The table of texts of a remote_write 2.0 request. */
import { metricNameLabel } from '../../model/metric-plan.ts';
import type { LabelLimits } from '../../codec/series-labels.ts';
import { AppError } from '../../model/errors.ts';

const maxSymbols = 2_000_000;
/** UTF-8 bytes of one UTF-16 unit. */
const maxBytesPerUnit = 3;

export class Symbols {
  readonly #body: Buffer;
  /** Start and end of each symbol in the body. */
  readonly #ranges: number[] = [];

  constructor(body: Buffer) {
    this.#body = body;
  }

  get count(): number {
    return this.#ranges.length / 2;
  }

  /** @throws AppError `too_large` */
  add(start: number, end: number): void {
    if (this.count === maxSymbols) {
      const message = `cannot accept more than ${maxSymbols} symbols: send fewer series at once`;
      throw new AppError('too_large', message);
    }
    this.#ranges.push(start, end);
  }

  /**
   * @param maxUnits a longer text is refused later, so its beginning is enough
   * @returns its range in the body. @throws AppError `malformed`
   */
  range(reference: number, maxUnits: number): [start: number, end: number] {
    const start = this.#ranges[2 * reference];
    if (start === undefined) {
      const message = `cannot find symbol ${reference}: the request has ${this.count}`;
      throw new AppError('malformed', message);
    }
    const end = this.#ranges[2 * reference + 1]!;
    let cut = start + maxBytesPerUnit * (maxUnits + 2);
    if (end <= cut) return [start, end];
    while (cut > start && (this.#body[cut]! & 0xc0) === 0x80) cut -= 1;
    return [start, cut];
  }

  text(reference: number, maxUnits: number): string {
    return this.#body.toString('utf8', ...this.range(reference, maxUnits));
  }
}

const familySuffix = /_(?:bucket|count|sum)$/;
/** Types whose series are named by a suffix: histogram, gauge histogram, summary. */
const suffixedTypes: ReadonlySet<number> = new Set([3, 4, 5]);

/** @param labels symbols of names and values, alternating. @returns '' without a metric name */
export function familyName(
  symbols: Symbols,
  labels: readonly number[],
  type: number,
  { maxLabelNameLength, maxLabelValueLength }: LabelLimits,
): string {
  for (let i = 0; i + 1 < labels.length; i += 2) {
    if (symbols.text(labels[i]!, maxLabelNameLength) !== metricNameLabel) continue;
    const value = symbols.text(labels[i + 1]!, maxLabelValueLength);
    return suffixedTypes.has(type) ? value.replace(familySuffix, '') : value;
  }
  return '';
}
