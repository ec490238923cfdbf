/** How often random tests of the store and the queue run. */
const times = Number(process.env['WEIR_TEST_RUNS'] ?? 1);

/** @returns `count` in `npm test`; `npm run random` and `WEIR_TEST_RUNS` multiply it */
export function runs(count: number): number {
  return Math.ceil(count * times);
}
