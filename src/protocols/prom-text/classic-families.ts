/**
 * Families of the classic text format: described once and before their samples, in any order
 * otherwise. Values are not looked at, and families may be interleaved: much in use does so.
 */
import {
  blankFamily,
  describeFamily,
  type Family,
  type FamilyRules,
  type Fault,
  isDescribed,
  quoteName,
  type Sample,
} from './families.ts';
import type { MetadataLine } from './metadata-line.ts';

export class ClassicFamilies implements FamilyRules {
  readonly #families = new Map<string, Family>();
  /** Names of metrics that had samples. */
  readonly #sampled = new Set<string>();
  #lastName = '';

  get size(): number {
    return this.#families.size;
  }

  describe(line: MetadataLine): Fault {
    const { name, kind } = line;
    if (kind === 'TYPE' && this.#sampled.has(name)) {
      return `the TYPE line of ${quoteName(name)} stands after its samples`;
    }
    let family = this.#families.get(name);
    if (family === undefined) {
      family = blankFamily(name);
      this.#families.set(name, family);
    }
    // What the format calls untyped is unknown everywhere else.
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
