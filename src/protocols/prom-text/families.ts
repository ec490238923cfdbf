/**
 * What both formats keep of metric families, and what they ask of them: a family is described once,
 * before its samples. Rules say what is wrong in words, and never where.
 */
import type { Time } from '../../codec/metric-writer.ts';
import type { MetadataLine } from './metadata-line.ts';
import type { SeriesFacts } from './series-facts.ts';

export interface Family {
  readonly name: string;
  /** Undefined while nothing was said; '' is said, too. */
  type: string | undefined;
  unit: string | undefined;
  help: string | undefined;
}

export interface Sample {
  readonly series: SeriesFacts;
  readonly value: number;
  readonly time: Time;
}

/** What is wrong; '' where nothing is. */
export type Fault = string;

export interface FamilyRules {
  /** Families that were described or brought samples. */
  readonly size: number;
  describe(line: MetadataLine): Fault;
  take(sample: Sample): Fault;
  /** Whether an exemplar may stand beside the last sample. */
  exemplar(): Fault;
  /** After the last line. */
  finish(): Fault;
  /** Those that were described, in their order. */
  described(): Iterable<Family>;
}

export function blankFamily(name: string): Family {
  return { name, type: undefined, unit: undefined, help: undefined };
}

const fields = { HELP: 'help', TYPE: 'type', UNIT: 'unit' } as const;

/** Each thing may be said once. */
export function describeFamily(family: Family, { kind, text }: MetadataLine): Fault {
  const field = fields[kind];
  if (family[field] !== undefined) return `a second ${kind} line of ${quoteName(family.name)}`;
  family[field] = text;
  return '';
}

export function isDescribed({ type, unit, help }: Family): boolean {
  return type !== undefined || Boolean(unit) || Boolean(help);
}

const maxShown = 60;

/** As it is shown in a fault. */
export function quoteName(name: string): string {
  return JSON.stringify(name.length > maxShown ? `${name.slice(0, maxShown)}…` : name);
}
