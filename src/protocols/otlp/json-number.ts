/**
 * Numbers of proto3 JSON (https://protobuf.dev/programming-guides/json). 64-bit integers are two
 * halves, because a double would round them.
 */

const twoTo32 = 4_294_967_296;
const maxHalf = 0xffff_ffff;
/** In the upper half. */
const signBit = 0x8000_0000;
const minus = 0x2d;
const zero = 0x30;
/** Longer decimals are rejected. */
const maxDecimalBytes = 64;
const maxQuickDigits = 19;
const maxUint64Digits = 20;
const maxUint64 = (1n << 64n) - 1n;
const decimalForm = /^(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?$/;

/** The last integer read, as the halves of its two's complement. Reused. */
export class Integer64 {
  /** Both unsigned. */
  high = 0;
  low = 0;
  /** Whether it fits an int64. */
  isSigned = false;
  /** Whether it fits a uint64. */
  isUnsigned = false;

  get isInt32(): boolean {
    return this.isSigned && (this.low | 0) < 0 ? this.high === maxHalf : this.high === 0;
  }

  /**
   * Reads ASCII digits, also in the forms `1.0` and `1e3`.
   * @returns false for other text, a fraction, or more than 64 bits
   */
  read(bytes: Buffer, start: number, end: number): boolean {
    const isNegative = bytes[start] === minus;
    const first = isNegative ? start + 1 : start;
    if (!this.#readDigits(bytes, first, end) && !this.#readAnyForm(bytes, first, end)) return false;
    this.#setSign(isNegative);
    return true;
  }

  /** @param high, low 32 bits of any sign */
  setHalves(high: number, low: number): void {
    this.high = high >>> 0;
    this.low = low >>> 0;
    this.isSigned = true;
    this.isUnsigned = true;
  }

  #readDigits(bytes: Buffer, start: number, end: number): boolean {
    if (end === start || end - start > maxQuickDigits) return false;
    const split = Math.max(end - 9, start);
    const upper = toNumber(bytes, start, split);
    const lower = toNumber(bytes, split, end);
    if (upper < 0 || lower < 0) return false;
    // upper * 10^9 + lower; no product exceeds 2^53.
    const upperHigh = Math.floor(upper / 65_536) * 1e9;
    const upperLow = (upper % 65_536) * 1e9 + lower;
    const rest = (upperHigh % 65_536) * 65_536 + upperLow;
    this.high = Math.floor(upperHigh / 65_536) + Math.floor(rest / twoTo32);
    this.low = rest % twoTo32;
    return true;
  }

  #readAnyForm(bytes: Buffer, start: number, end: number): boolean {
    if (end - start > maxDecimalBytes) return false;
    const value = toUint64(bytes.toString('latin1', start, end));
    if (value === undefined) return false;
    this.high = Number(value >> 32n);
    this.low = Number(value & 0xffff_ffffn);
    return true;
  }

  #setSign(isNegative: boolean): void {
    const { high, low } = this;
    const isZero = high === 0 && low === 0;
    this.isUnsigned = !isNegative || isZero;
    this.isSigned = high < signBit || (isNegative && high === signBit && low === 0);
    if (!isNegative || isZero) return;
    this.low = -low >>> 0;
    this.high = (low === 0 ? -high : ~high) >>> 0;
  }
}

/** @returns -1 if a byte is not a digit */
function toNumber(bytes: Buffer, start: number, end: number): number {
  let value = 0;
  for (let at = start; at < end; at += 1) {
    const digit = bytes[at]! - zero;
    if (!(digit >= 0 && digit <= 9)) return -1;
    value = value * 10 + digit;
  }
  return value;
}

function toUint64(text: string): bigint | undefined {
  const match = decimalForm.exec(text);
  if (match === null) return undefined;
  const [, whole = '', fraction = '', power = '0'] = match;
  let digits = `${whole}${fraction}`.replace(/^0+/, '');
  if (digits === '') return 0n;
  let exponent = Number(power) - fraction.length;
  if (exponent < 0) {
    if (!/^0*$/.test(digits.slice(exponent))) return undefined;
    digits = digits.slice(0, exponent);
    exponent = 0;
  }
  if (digits.length + exponent > maxUint64Digits) return undefined;
  const value = BigInt(`${digits}${'0'.repeat(exponent)}`);
  return value <= maxUint64 ? value : undefined;
}
