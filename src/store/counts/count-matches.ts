/** Which counts match a filter, and their sums by bucket. Pure. */
import {
  type EqualityField,
  equalityFields,
  type FilterField,
  filterFields,
  type GroupField,
  isLabelField,
  type LabelField,
  logFields,
  toStoredValue,
} from '../../model/log-fields.ts';
import type { LogFilter } from '../../model/plan.ts';
import { firstNumber, levelNumbers, severityLevels } from '../../model/severity.ts';
import type { CountField } from '../sql/part-counts.ts';
import type { GroupedTicks } from './part-counts.ts';
import { indexAfter, type Segments, type Ticks } from './ticks.ts';

/** Whether the counts by some fields can tell which logs match. */
export function canCount(filter: LogFilter): boolean {
  const { labels, search, equal, minSeverity, excluded, conditions = [] } = filter;
  return (
    conditions.length === 0 &&
    labels.length + search.length + (excluded?.labels.length ?? 0) === 0 &&
    (minSeverity === undefined || severityLevels.some((_, i) => firstNumber(i) === minSeverity)) &&
    [...equal, ...(excluded?.equal ?? [])].every(
      ([field, values]) => isCounted(field) && values.every((value) => isGroup(field, value)),
    )
  );
}

/** Ids have about as many values as there are logs. Whether a label has is seen by counting it. */
export function isCounted(field: GroupField): field is FilterField | LabelField {
  return isLabelField(field) || countedFieldNames.has(field);
}

const countedFieldNames: ReadonlySet<GroupField> = new Set(
  filterFields.filter((field) => logFields[field].filter.facets.length > 0),
);

/** A log with a severity number is counted by it, whatever its word. */
function isGroup(field: EqualityField, value: string): boolean {
  const stored = toStoredValue(field, value);
  return field !== 'severity' || stored === '' || levelNumbers(stored).length > 0;
}

/**
 * The fields that must be counted to group the logs that match a filter.
 * @returns in the order of the table of fields, then labels by name
 */
export function countedFields(
  { equal, minSeverity, excluded }: LogFilter,
  grouped: readonly CountField[],
): readonly CountField[] {
  const wanted = new Set<CountField>([
    ...equal.keys(),
    ...(excluded?.equal.keys() ?? []),
    ...grouped,
  ]);
  if (minSeverity !== undefined) wanted.add('severity');
  const labels = new Set(grouped.filter(isLabelField));
  return [...equalityFields.filter((field) => wanted.has(field)), ...[...labels].sort()];
}

export interface CountQuery {
  readonly filter: LogFilter;
  /** Lists as `countedFields` returns them, one for each grouping. */
  readonly fields: readonly (readonly CountField[])[];
  /** Edges of the buckets in ticks; empty = one bucket. */
  readonly edges: readonly number[];
  /** Of the range, by single ticks. */
  readonly ticks: Ticks;
  /** Whether counts by the hour need rows of at most two hours. */
  readonly cutsFewHours: boolean;
}

/** The counts of a part, and which of its ticks the query holds. */
export interface CountedPart {
  /** By which it is counted: at least those of the query. */
  readonly fields: readonly CountField[];
  readonly counts: GroupedTicks;
  readonly segments: Segments;
}

/** The counts by bucket to which those of a group are added; undefined = none. */
type CountsOf = (values: readonly string[]) => Float64Array | undefined;

/** Adds the logs of each group that matches. @param countsOf called for groups with logs */
export function addMatches(
  part: CountedPart,
  of: readonly GroupField[],
  filter: LogFilter,
  countsOf: CountsOf,
): void {
  const { fields, counts, segments } = part;
  const { texts, streams, starts } = counts;
  const matches = matchingGroups(filter, fields, counts);
  const columns = of.map((field) =>
    field === 'streamId' ? streams : counts.values[fields.indexOf(field as CountField)],
  );
  for (let i = 0; i < streams.length; i++) {
    if (matches[i] === 0) continue;
    let own: Float64Array | undefined;
    addRange(counts, [starts[i]!, starts[i + 1]!], segments, (bucket, count) => {
      // A part without groups has no columns.
      own ??= countsOf(columns.map((column) => texts[column![i]!]!));
      if (own !== undefined) own[bucket]! += count;
    });
  }
}

/** Counts between two indexes, by search in their sums rather than one by one. */
function addRange(
  { ticks, sums }: GroupedTicks,
  [first, end]: readonly [number, number],
  { from, until, bucket }: Segments,
  add: (bucket: number, count: number) => void,
): void {
  let at = first;
  let segment = 0;
  while (at < end) {
    segment = indexAfter(until, ticks[at]!, segment, until.length);
    if (segment === until.length) return;
    if (ticks[at]! < from[segment]!) at = indexFrom(ticks, from[segment]!, at, end);
    const next = indexFrom(ticks, until[segment]!, at, end);
    if (next > at) add(bucket[segment]!, sums[next]! - sums[at]!);
    at = next;
  }
}

/** Of integers. @returns index in [low, high) of the first that is not below `limit` */
function indexFrom(ticks: Float64Array, limit: number, low: number, high: number): number {
  return indexAfter(ticks, limit - 1, low, high);
}

/**
 * The conditions of `whereSql` that counts can answer, tested once for each text.
 * @returns 1 for each group that matches, else 0
 */
function matchingGroups(
  { streams, equal, excluded, minSeverity }: LogFilter,
  fields: readonly CountField[],
  counts: GroupedTicks,
): Uint8Array {
  const matches = new Uint8Array(counts.streams.length).fill(1);
  const add = (column: Uint32Array | undefined, test: (text: string) => boolean) => {
    // A part without groups has no columns.
    if (column === undefined) return;
    const isWanted = Uint8Array.from(counts.texts, (text) => Number(test(text)));
    for (let i = 0; i < column.length; i++) matches[i]! &= isWanted[column[i]!]!;
  };
  const columnOf = (field: CountField) => counts.values[fields.indexOf(field)];
  const streamIds = new Set(streams.map(({ streamId }) => streamId));
  add(counts.streams, (text) => streamIds.has(text));
  for (const [field, values] of equal) {
    const wanted = storedValues(field, values);
    add(columnOf(field), (text) => wanted.has(text));
  }
  for (const [field, values] of excluded?.equal ?? []) {
    const unwanted = storedValues(field, values);
    add(columnOf(field), (text) => !unwanted.has(text));
  }
  if (minSeverity !== undefined) {
    add(columnOf('severity'), (text) => (levelNumbers(text)[0] ?? 0) >= minSeverity);
  }
  return matches;
}

function storedValues(field: EqualityField, values: readonly string[]): ReadonlySet<string> {
  return new Set(values.map((value) => toStoredValue(field, value)));
}
