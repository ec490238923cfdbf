/** Seeded random numbers, so that a run can be repeated. */

export interface Random {
  /** Uniform in [0, 1). */
  next(): number;
  /** Uniform integer in [from, to]. */
  integer(from: number, to: number): number;
  /** Picks an item uniformly. */
  pick<T>(items: readonly [T, ...T[]]): T;
}

/** The generator "mulberry32" by Tommy Ettinger (public domain); `seed` is taken modulo 2^32. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const integer = (from: number, to: number) => from + Math.floor(next() * (to - from + 1));
  return { next, integer, pick: (items) => items[integer(0, items.length - 1)] ?? items[0] };
}
