/**
 * Lets only so many at a time through, the others in the order in which they came. It knows nothing
 * of what happens behind it.
 */
import { AppError } from '../model/errors.ts';

export interface Gate {
  /**
   * Resolves when it is one's turn, to what ends it; it must be called once.
   * @throws AppError `unavailable` where too many wait already
   */
  enter(): Promise<() => void>;
}

export function createGate(places: number, maxWaiting: number): Gate {
  const waiting: (() => void)[] = [];
  let free = places;

  /** A place is handed on, not freed, while somebody waits for it. */
  function leave(): void {
    const next = waiting.shift();
    if (next === undefined) free += 1;
    else next();
  }

  return {
    async enter() {
      if (free > 0) {
        free -= 1;
        return leave;
      }
      if (waiting.length >= maxWaiting) {
        throw new AppError('unavailable', 'cannot read now: too many reads wait; try again', {
          retryAfterSeconds: 2,
        });
      }
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.push(resolve);
      await promise;
      return leave;
    },
  };
}
