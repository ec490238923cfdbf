/** Schedules tasks round-robin over their sources, in slices that leave time for the event loop. */

const sliceMs = 5;

export function createRoundRobin<Source extends object>() {
  /** In the order of their turns. */
  const waiting = new Map<Source, (() => void)[]>();

  function run(): void {
    const endMs = performance.now() + sliceMs;
    do {
      const next = waiting.entries().next();
      if (next.done === true) return;
      const [source, tasks] = next.value;
      const task = tasks.shift();
      waiting.delete(source);
      if (tasks.length > 0) waiting.set(source, tasks);
      task?.();
    } while (performance.now() < endMs);
    if (waiting.size > 0) setImmediate(run);
  }

  return {
    /** Runs the task soon, after earlier ones of its source and one of each other source. */
    add(source: Source, task: () => void): void {
      const tasks = waiting.get(source);
      if (tasks !== undefined) {
        tasks.push(task);
        return;
      }
      if (waiting.size === 0) setImmediate(run);
      waiting.set(source, [task]);
    },
  };
}
