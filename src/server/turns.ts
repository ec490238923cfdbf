/**
 * Work of many sources, one piece of each by turns, and never so much at once that others wait for
 * long. It knows nothing of what the work is.
 */

/** Between two looks at what else has arrived. */
const budgetMs = 5;

export interface Turns<Source extends object> {
  /** Does it soon, behind earlier work of its source and one piece each of the others. */
  add(source: Source, work: () => void): void;
}

export function createTurns<Source extends object>(): Turns<Source> {
  /** In the order of their turns. */
  const waiting = new Map<Source, (() => void)[]>();

  function run(): void {
    const endMs = performance.now() + budgetMs;
    do {
      const next = waiting.entries().next();
      if (next.done === true) return;
      const [source, pieces] = next.value;
      const work = pieces.shift();
      waiting.delete(source);
      if (pieces.length > 0) waiting.set(source, pieces);
      work?.();
    } while (performance.now() < endMs);
    if (waiting.size > 0) setImmediate(run);
  }

  return {
    add(source, work) {
      const pieces = waiting.get(source);
      if (pieces !== undefined) {
        pieces.push(work);
        return;
      }
      if (waiting.size === 0) setImmediate(run);
      waiting.set(source, [work]);
    },
  };
}
