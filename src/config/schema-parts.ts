/** Constructors for settings: unit, default, bounds. The schema describes each setting. */
import { isIP } from 'node:net';
import { z } from 'zod';

export type Unit =
  | 'bytes'
  | 'ms'
  | 's'
  | 'h'
  | 'd'
  | 'rows'
  | 'events'
  | 'count'
  | 'port'
  | 'path'
  | 'url';

export const mebibyte = 1024 * 1024;
export const gibibyte = 1024 * mebibyte;

export function section<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.strictObject(shape).prefault({} as never);
}

export function text(value = '', unit?: Unit) {
  return z.string().default(value).meta({ unit });
}

/** A text of a form. @param form what it takes: `an address such as 0.0.0.0:514` */
export function textOf(isOfForm: (value: string) => boolean, form: string, value = '') {
  return z.string().refine(isOfForm, form).default(value);
}

/** Empty = none. @param schemes such as `https` */
export function webUrl(example: string, ...schemes: readonly string[]) {
  const isUrl = (value: string) =>
    value === '' || schemes.includes(URL.parse(value)?.protocol.slice(0, -1) ?? '');
  return textOf(isUrl, `a URL such as ${example}`).meta({ unit: 'url' satisfies Unit });
}

export function integer(unit: Unit, value: number, min: number, max: number) {
  return z.int().min(min).max(max).default(value).meta({ unit });
}

export function list() {
  return z.array(z.string()).default([]);
}

/** Addresses, and ranges of them such as `10.0.0.0/8`. */
export function addressRanges() {
  const range = z.string().refine(isAddressRange, 'address ranges such as 10.0.0.0/8 or fd00::/8');
  return z.array(range).default([]);
}

function isAddressRange(range: string): boolean {
  const [address = '', bits = '0', ...rest] = range.split('/');
  const mostBits = { 4: 32, 6: 128 }[isIP(address)] ?? -1;
  return rest.length === 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= mostBits;
}

/** A list of known words. */
export function words<const Word extends string>(known: readonly Word[]) {
  return z.array(z.enum(known)).default([]);
}
