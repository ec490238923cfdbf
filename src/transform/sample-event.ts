/** A log in memory, on which a transform is tried out. */
import { setImmediate } from 'node:timers/promises';
import { AppError } from '../model/errors.ts';
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

/** Of all values after the transform. */
const maxResultLength = 8 * 1024 * 1024;

/** @throws AppError `too_large` when the transform makes too much of the samples */
export async function previewTransform(
  steps: readonly TransformStep[],
  samples: readonly SampleFields[],
): Promise<PreviewedSample[]> {
  const transform = compileTransform(steps);
  const previewed: PreviewedSample[] = [];
  let length = 0;
  for (const fields of samples) {
    const counts: Changes = new Map();
    const event = new SampleEvent(fields);
    const isKept = transform(event, counts);
    const after = isKept ? event.toFields() : undefined;
    for (const value of Object.values(after ?? {})) length += value.length;
    if (length > maxResultLength) throw tooLarge();
    previewed.push({ after, changes: [...counts.keys()] });
    // Other requests have a turn.
    await setImmediate();
  }
  return previewed;
}

function tooLarge(): AppError {
  return new AppError(
    'too_large',
    `cannot preview the transform: it makes more than ${maxResultLength} characters of the ` +
      'samples; remove a step that copies or adds text, or send fewer samples',
  );
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
