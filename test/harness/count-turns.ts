/** Turns of the event loop during a piece of work. */

/** Resolves once the work is done, or has failed. @returns how often others had a turn */
export async function countTurns(work: () => unknown): Promise<number> {
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  try {
    await work();
  } finally {
    isOver = true;
  }
  return turns;
}
