/** A log in memory, on which a transform is tried out. */
import { toSeverityWord } from '../model/severity.ts';
import type { TransformStep } from '../model/transform.ts';
import { type Changes, compileTransform } from './compile.ts';
import { fits, isColumn, type TransformEvent } from './event.ts';

/** Fields by name, such as `message`, `severity` and labels. */
export type SampleFields = Readonly<Record<string, string>>;

export interface PreviewedSample {
  /** Undefined = dropped. */
  readonly after: SampleFields | undefined;
  readonly changes: readonly string[];
}

export function previewTransform(
  steps: readonly TransformStep[],
  samples: readonly SampleFields[],
): PreviewedSample[] {
  const transform = compileTransform(steps);
  return samples.map((fields) => {
    const counts: Changes = new Map();
    const event = new SampleEvent(fields);
    const isKept = transform(event, counts);
    return { after: isKept ? event.toFields() : undefined, changes: [...counts.keys()] };
  });
}

class SampleEvent implements TransformEvent {
  readonly #fields: Map<string, string>;

  constructor(fields: SampleFields) {
    this.#fields = new Map(Object.entries(fields));
  }

  get(field: string): string | undefined {
    return this.#fields.get(field) || undefined;
  }

  set(field: string, value: string): void {
    if (isColumn(field) && !fits(field, value)) return;
    this.#fields.set(field, field === 'severity' ? toSeverityWord(value).toUpperCase() : value);
  }

  remove(field: string): void {
    this.#fields.delete(field);
  }

  labels(): number {
    return this.#fields.size;
  }

  eachText(change: (value: string, label: string | undefined) => string): void {
    for (const [field, value] of this.#fields) {
      if (isColumn(field) && field !== 'message') continue;
      this.#fields.set(field, change(value, field === 'message' ? undefined : field));
    }
  }

  toFields(): SampleFields {
    return Object.fromEntries(this.#fields);
  }
}
