/** A sum compensated for rounding. https://en.wikipedia.org/wiki/Kahan_summation_algorithm */
export class KahanSum {
  #sum: number;
  #rest = 0;

  constructor(first: number) {
    this.#sum = first;
  }

  add(value: number): void {
    const sum = this.#sum;
    const next = sum + value;
    if (next === Infinity || next === -Infinity) this.#rest = 0;
    else this.#rest += roundingLoss(sum, value);
    this.#sum = next;
  }

  merge(other: KahanSum, sign: 1 | -1): void {
    this.add(sign * other.#sum);
    if (other.#rest !== 0) this.add(sign * other.#rest);
  }

  scale(factor: number): void {
    this.#sum *= factor;
    this.#rest *= factor;
  }

  divide(divisor: number): void {
    this.#sum /= divisor;
    this.#rest /= divisor;
  }

  value(): number {
    return Number.isFinite(this.#sum) ? this.#sum + this.#rest : this.#sum;
  }

  quotient(divisor: number): number {
    return Number.isFinite(this.#sum)
      ? this.#sum / divisor + this.#rest / divisor
      : this.#sum / divisor;
  }

  overflows(): boolean {
    return this.#sum === Infinity || this.#sum === -Infinity;
  }

  copy(): KahanSum {
    const copy = new KahanSum(0);
    copy.set(this);
    return copy;
  }

  set(other: KahanSum): void {
    this.#sum = other.#sum;
    this.#rest = other.#rest;
  }
}

/** What `sum + value` lacks. */
export function roundingLoss(sum: number, value: number): number {
  const next = sum + value;
  return Math.abs(sum) >= Math.abs(value) ? sum - next + value : value - next + sum;
}
