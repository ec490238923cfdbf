/** Compares answers of Prometheus' API, values to 1e-9. */

export interface Answer {
  readonly status: string;
  readonly error?: string;
  readonly data?: { readonly resultType: string; readonly result: Result };
}

type Point = readonly [time: number, value: string];

type Result = Point | readonly Found[];

interface Found {
  readonly metric: Readonly<Record<string, string>>;
  readonly value?: Point;
  readonly values?: readonly Point[];
}

/** @returns '' for the same answers */
export function differenceOf(own: Answer, other: Answer): string {
  if (own.status !== other.status) {
    return `${own.error ?? 'answered'} / ${other.error ?? 'answered'}`;
  }
  if (own.data === undefined || other.data === undefined) return '';
  const [left, right] = [byMetric(own.data.result), byMetric(other.data.result)];
  for (const [metric, points] of right) {
    const ownPoints = left.get(metric);
    if (ownPoints === undefined) return `lacks ${metric}`;
    if (ownPoints.length !== points.length) {
      return `${ownPoints.length} instead of ${points.length} points of ${metric}`;
    }
    for (const [i, [time, value]] of points.entries()) {
      const [ownTime, ownValue] = ownPoints[i]!;
      if (ownTime !== time || !nearlyEqual(Number(ownValue), Number(value))) {
        return `${ownValue} instead of ${value} at ${time} of ${metric}`;
      }
    }
  }
  return left.size === right.size ? '' : `${left.size} instead of ${right.size} series`;
}

function byMetric(result: Result): Map<string, readonly Point[]> {
  if (isPoint(result)) return new Map([['', [result]]]);
  return new Map(
    result.map(({ metric, value, values }) => [
      JSON.stringify(Object.entries(metric).sort(([a], [b]) => (a < b ? -1 : 1))),
      values ?? [value!],
    ]),
  );
}

function isPoint(result: Result): result is Point {
  return typeof result[0] === 'number';
}

/** Texts such as +Inf are equal or not. */
function nearlyEqual(own: number, other: number): boolean {
  if (Object.is(own, other) || own === other) return true;
  const scale = Math.max(Math.abs(own), Math.abs(other), 1e-3);
  return Math.abs(own - other) <= 1e-9 * scale;
}
