/** Parsers of option values. */
import { InvalidArgumentError } from 'commander';

export function toInteger(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Give a whole number.');
}

/** @returns a parser of whole numbers in a range, both ends included. */
export function integerWithin(least: number, most = Infinity): (text: string) => number {
  return (text) => {
    const value = toInteger(text);
    if (value >= least && value <= most) return value;
    const range = most === Infinity ? `${least} or more` : `${least} to ${most}`;
    throw new InvalidArgumentError(`Give a whole number, ${range}.`);
  };
}

/** Represents JSON null, which commander does not accept as the value of an option. */
export const cleared = Symbol('cleared');

/** A limit; `unlimited` clears it. */
export function toLimit(text: string): number | typeof cleared {
  return text === 'unlimited' ? cleared : toInteger(text);
}

/** Levels of downsampling; `none` clears them. */
export function toLevels(text: string): string | typeof cleared {
  return text === 'none' ? cleared : text;
}

/** A time; `never` clears it. */
export function toTime(text: string): string | typeof cleared {
  if (text === 'never') return cleared;
  const millis = Date.parse(text);
  if (!Number.isNaN(millis)) return new Date(millis).toISOString();
  throw new InvalidArgumentError('Give a time such as 2027-01-31T00:00:00Z.');
}

/** For options that may be given several times. */
export function collect(text: string, earlier: readonly string[] = []): string[] {
  return [...earlier, text];
}
