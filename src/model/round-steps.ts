/** Round lengths of time, into which charts divide a range. */

const [millisecond, second, minute, hour, day] = [1, 1000, 60_000, 3_600_000, 86_400_000];

/** ms, ascending. */
export const roundSteps: readonly number[] = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500].map((count) => count * millisecond),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * second),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * minute),
  ...[1, 2, 3, 6, 12].map((count) => count * hour),
  ...[1, 2, 7, 14, 28, 91, 182, 364, 728].map((count) => count * day),
];
