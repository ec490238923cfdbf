/** Positions of stacked bars in whole pixels, as one SVG path per series. Pure. */

export interface BarSize {
  readonly width: number;
  readonly height: number;
  /** Maximum of the scale. */
  readonly max: number;
}

/** @param series values per bucket, bottom of the stack first @returns one path per series */
export function stackPaths(series: readonly (readonly number[])[], size: BarSize): string[] {
  const buckets = series[0]?.length ?? 0;
  const sums = new Float64Array(buckets);
  const tops = new Float64Array(buckets).fill(size.height);
  return series.map((values) => {
    let path = '';
    for (let bucket = 0; bucket < buckets; bucket += 1) {
      const value = values[bucket] ?? 0;
      if (value <= 0) continue;
      const bottom = tops[bucket]!;
      sums[bucket]! += value;
      // A single error among a million other logs stays visible.
      const top = Math.min(bottom - 1, size.height - Math.round(sums[bucket]! * scaleOf(size)));
      tops[bucket] = top;
      const { left, right } = barEdges(bucket, buckets, size.width);
      path += `M${left} ${bottom}V${top}H${right}V${bottom}z`;
    }
    return path;
  });
}

/** Pixels from the left, with a gap if there is room. */
export function barEdges(bucket: number, buckets: number, width: number) {
  const left = Math.round((bucket * width) / buckets);
  const next = Math.round(((bucket + 1) * width) / buckets);
  return { left, right: next - left >= 4 ? next - 1 : Math.max(next, left + 1) };
}

/** Start of bucket `at` of `buckets`, in Unix ms, as the service computes it. */
export function bucketEdge(startMs: number, endMs: number, at: number, buckets: number): number {
  return startMs + Math.floor((at * (endMs - startMs)) / buckets);
}

/** Rounds up to 1, 2, 3, 4, 6, 8, 10, 20, 30, … */
export function roundMax(value: number): number {
  if (value <= 1) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return power * ([1, 2, 3, 4, 6, 8, 10].find((factor) => factor * power >= value) ?? 10);
}

/** `950`, `1.2K`, `3M` */
export function shortCount(count: number): string {
  return compact.format(count);
}

const compact = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 });

function scaleOf({ height, max }: BarSize): number {
  return height / Math.max(1, max);
}
