/**
 * Metric families: the rules that both formats share, and those of the classic format. Rules return
 * the fault; the caller adds the position.
 */
import type { Time } from '../../codec/metric-writer.ts';
import type { MetadataLine } from './metadata-line.ts';
import type { SeriesFacts } from './series-cache.ts';

export interface Family {
  readonly name: string;
  /** Undefined until described; '' counts as described. */
  type: string | undefined;
  unit: string | undefined;
  help: string | undefined;
}

export interface Sample {
  readonly series: SeriesFacts;
  readonly value: number;
  readonly time: Time;
}

/** The reason to fail the push; '' = none. */
export type Fault = string;

export interface FamilyRules {
  /** Number of families with a description or samples. */
  readonly size: number;
  describe(line: MetadataLine): Fault;
  take(sample: Sample): Fault;
  /** Checks that the last sample may have an exemplar. */
  exemplar(): Fault;
  /** After the last line. */
  finish(): Fault;
  /** Families with a description, in order. */
  described(): Iterable<Family>;
}

export function blankFamily(name: string): Family {
  return { name, type: undefined, unit: undefined, help: undefined };
}

const fields = { HELP: 'help', TYPE: 'type', UNIT: 'unit' } as const;

/** Each line may come once per family. */
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

/** For a fault; long names are truncated. */
export function quoteName(name: string): string {
  return JSON.stringify(name.length > maxShown ? `${name.slice(0, maxShown)}…` : name);
}

/**
 * Families of the classic format: described once, before their samples. Values are not checked and
 * families may be interleaved, because common exporters do both.
 */
export class ClassicFamilies implements FamilyRules {
  readonly #families = new Map<string, Family>();
  /** Names of metrics with samples. */
  readonly #sampled = new Set<string>();
  #lastName = '';

  get size(): number {
    return this.#families.size;
  }

  describe(line: MetadataLine): Fault {
    const { name, kind } = line;
    if (kind === 'TYPE' && this.#sampled.has(name)) {
      return `the TYPE line of ${quoteName(name)} must come before its samples`;
    }
    let family = this.#families.get(name);
    if (family === undefined) {
      family = blankFamily(name);
      this.#families.set(name, family);
    }
    // OpenMetrics and Prometheus call this type unknown.
    return describeFamily(family, line.text === 'untyped' ? { ...line, text: 'unknown' } : line);
  }

  take({ series: { name } }: Sample): Fault {
    if (name !== this.#lastName) {
      this.#sampled.add(name);
      this.#lastName = name;
    }
    return '';
  }

  exemplar(): Fault {
    return 'exemplars need OpenMetrics';
  }

  finish(): Fault {
    return '';
  }

  *described(): Iterable<Family> {
    for (const family of this.#families.values()) if (isDescribed(family)) yield family;
  }
}
