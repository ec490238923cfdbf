/** The settings as a flat list, with the flag, environment variable and key of each. */
import { z } from 'zod';
import { configSchema } from './schema.ts';
import type { Unit } from './schema-parts.ts';

export type ValueType = 'text' | 'integer' | 'list' | 'choice';

export interface Setting {
  /** Path in the file: `['ingest', 'port']`. */
  readonly path: readonly string[];
  /** `ingest.port` */
  readonly key: string;
  /** `--ingest-port` */
  readonly flag: string;
  /** `WEIR_INGEST_PORT` */
  readonly environment: string;
  readonly type: ValueType;
  readonly unit: Unit | undefined;
  readonly description: string;
  readonly defaultValue: unknown;
  readonly minimum: number | undefined;
  readonly maximum: number | undefined;
  /** Of the whole value, or of each part of a list. */
  readonly choices: readonly string[] | undefined;
}

/** Every setting, in the order of the schema. */
export function listSettings(): Setting[] {
  return walk(configSchema, []);
}

function walk(schema: z.ZodObject, path: readonly string[]): Setting[] {
  return Object.entries(schema.shape).flatMap(([name, child]: [string, unknown]) => {
    const inner = child instanceof z.ZodPrefault ? child.unwrap() : child;
    return inner instanceof z.ZodObject
      ? walk(inner, [...path, name])
      : [toSetting(child as z.ZodType, [...path, name])];
  });
}

function toSetting(leaf: z.ZodType, path: readonly string[]): Setting {
  const words = path.map(toKebab);
  const meta = leaf.meta() as { unit?: Unit; description?: string } | undefined;
  const value = leaf instanceof z.ZodDefault ? leaf.unwrap() : leaf;
  const bounded = value instanceof z.ZodNumber;
  return {
    path,
    key: path.join('.'),
    flag: `--${words.join('-')}`,
    environment: `WEIR_${words.join('_').replaceAll('-', '_').toUpperCase()}`,
    type: toValueType(value as z.ZodType),
    unit: meta?.unit,
    description: meta?.description ?? '',
    defaultValue: leaf.parse(undefined),
    minimum: bounded ? (value.minValue ?? undefined) : undefined,
    maximum: bounded ? (value.maxValue ?? undefined) : undefined,
    choices: choicesOf(value instanceof z.ZodArray ? value.element : value),
  };
}

function choicesOf(value: unknown): readonly string[] | undefined {
  return value instanceof z.ZodEnum ? value.options.map(String) : undefined;
}

function toValueType(value: z.ZodType): ValueType {
  if (value instanceof z.ZodNumber) return 'integer';
  if (value instanceof z.ZodArray) return 'list';
  return value instanceof z.ZodEnum ? 'choice' : 'text';
}

function toKebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
