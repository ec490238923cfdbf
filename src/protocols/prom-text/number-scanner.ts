/**
 * Reads decimal numbers from bytes to the nearest double: what Go's ParseFloat takes, without
 * hexadecimals and underscores. It does not know what a number means, or what may stand after it.
 */

export const notANumber = -1;
export const outOfRange = -2;

/** Up to here a double holds every whole number. */
const exactBelow = 2 ** 53;
/** Powers of ten that a double holds exactly. */
const powersOfTen = Array.from({ length: 23 }, (_, exponent) => 10 ** exponent);
const maxExactPower = powersOfTen.length - 1;
const maxExponent = 100_000;

const plus = 0x2b;
const minus = 0x2d;
const dot = 0x2e;
const letterE = 0x65;
const lowerCase = 0x20;

const nanWord = Buffer.from('nan');
const infWord = Buffer.from('inf');
const infinityWord = Buffer.from('infinity');

/** Holds the last number that was read; one serves for a body after the other. */
export class NumberScanner {
  value = 0;
  /** The number is ± `mantissa` · 10^`power`, exactly so where `isExact`. */
  mantissa = 0;
  power = 0;
  isNegative = false;

  get isExact(): boolean {
    return this.mantissa < exactBelow;
  }

  /** @returns the position after the number; `notANumber`; or `outOfRange` of a double. */
  scan(bytes: Buffer, start: number): number {
    const end = this.scanDecimal(bytes, start);
    return end < 0 ? this.#scanWord(bytes, start) : this.#toDouble(bytes, start, end);
  }

  /** As `scan`, for numbers in digits alone; leaves `value` as it was. */
  scanDecimal(bytes: Buffer, start: number): number {
    const sign = bytes[start];
    let at = sign === plus || sign === minus ? start + 1 : start;
    const first = at;
    let mantissa = 0;
    let digit = toDigit(bytes[at]);
    for (; digit < 10; digit = toDigit(bytes[++at])) mantissa = mantissa * 10 + digit;
    let digits = at - first;
    let fraction = 0;
    if (bytes[at] === dot) {
      const afterDot = at + 1;
      digit = toDigit(bytes[++at]);
      for (; digit < 10; digit = toDigit(bytes[++at])) mantissa = mantissa * 10 + digit;
      fraction = at - afterDot;
      digits += fraction;
    }
    if (digits === 0) return notANumber;
    this.mantissa = mantissa;
    this.power = -fraction;
    this.isNegative = sign === minus;
    return (bytes[at]! | lowerCase) === letterE ? this.#scanExponent(bytes, at + 1) : at;
  }

  #scanExponent(bytes: Buffer, start: number): number {
    const sign = bytes[start];
    let at = sign === plus || sign === minus ? start + 1 : start;
    const first = at;
    let exponent = 0;
    let digit = toDigit(bytes[at]);
    for (; digit < 10; digit = toDigit(bytes[++at])) {
      if (exponent < maxExponent) exponent = exponent * 10 + digit;
    }
    if (at === first) return notANumber;
    this.power += sign === minus ? -exponent : exponent;
    return at;
  }

  /**
   * A mantissa and a power of ten that are both exact need only one rounding (Clinger 1990);
   * whatever else is decimal is left to the language.
   */
  #toDouble(bytes: Buffer, start: number, end: number): number {
    const { mantissa, power } = this;
    if (mantissa < exactBelow && power >= -maxExactPower && power <= maxExactPower) {
      const size = power < 0 ? mantissa / powersOfTen[-power]! : mantissa * powersOfTen[power]!;
      this.value = this.isNegative ? -size : size;
      return end;
    }
    this.value = Number(bytes.toString('latin1', start, end));
    return Number.isFinite(this.value) ? end : outOfRange;
  }

  #scanWord(bytes: Buffer, start: number): number {
    if (startsWith(bytes, start, nanWord)) {
      this.value = Number.NaN;
      return start + nanWord.length;
    }
    const sign = bytes[start];
    const at = sign === plus || sign === minus ? start + 1 : start;
    if (!startsWith(bytes, at, infWord)) return notANumber;
    this.value = sign === minus ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
    return at + (startsWith(bytes, at, infinityWord) ? infinityWord : infWord).length;
  }
}

/** @returns 0 to 9, or more for what is no digit. */
function toDigit(byte: number | undefined): number {
  return byte === undefined ? 10 : (byte - 0x30) >>> 0;
}

/** In any case, as both formats have it. */
function startsWith(bytes: Buffer, at: number, word: Buffer): boolean {
  for (let i = 0; i < word.length; i += 1) {
    if ((bytes[at + i]! | lowerCase) !== word[i]) return false;
  }
  return true;
}
