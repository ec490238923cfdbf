/** Constructors for settings: unit, default, bounds. The schema describes each setting. */
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

export function integer(unit: Unit, value: number, min: number, max: number) {
  return z.int().min(min).max(max).default(value).meta({ unit });
}

export function list() {
  return z.array(z.string()).default([]);
}

/** A list of known words. */
export function words<const Word extends string>(known: readonly Word[]) {
  return z.array(z.enum(known)).default([]);
}
