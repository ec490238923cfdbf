/** Values of options as the control API takes them; its own checks have the last word. */
import { InvalidArgumentError } from 'commander';

export function toInteger(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Give a whole number.');
}

export function toCount(text: string): number {
  const count = toInteger(text);
  if (count > 0) return count;
  throw new InvalidArgumentError('Give a whole number above 0.');
}

/** Stands for null, which an option cannot have as its value. */
export const lifted = Symbol('lifted');

/** A limit; `unlimited` lifts it. */
export function toLimit(text: string): number | typeof lifted {
  return text === 'unlimited' ? lifted : toInteger(text);
}

/** A time; `never` takes it back. */
export function toTime(text: string): string | typeof lifted {
  if (text === 'never') return lifted;
  const millis = Date.parse(text);
  if (!Number.isNaN(millis)) return new Date(millis).toISOString();
  throw new InvalidArgumentError('Give a time such as 2027-01-31T00:00:00Z.');
}

/** The fields of a body as the options give them. */
export function toFields(options: object): object {
  return Object.fromEntries(
    Object.entries(options).map(([name, value]) => [name, value === lifted ? null : value]),
  );
}

/** For options that may be given several times. */
export function collect(text: string, earlier: readonly string[] = []): string[] {
  return [...earlier, text];
}
