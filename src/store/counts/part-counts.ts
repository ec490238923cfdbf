/** Counts of the logs of an account in one part of the table, by time and fields. Pure. */
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
import { firstNumber, levelNumbers, severityLevels } from '../../model/severity.ts';
import type { LogFilter } from '../../model/plan.ts';
import type { CountField, CountStep, PartCountRow } from '../sql/part-counts.ts';
import type { Ticks, TicksByStep } from './ticks.ts';

/** Columns, since there may be as many groups as combinations of service, host and severity. */
export interface PartCounts {
  readonly step: CountStep;
  /** Streams and values of the groups, which refer to them by index. */
  readonly texts: readonly string[];
  /** The stream of each group. */
  readonly streams: Uint32Array;
  /** For each field that is counted, in order, its value in each group. */
  readonly values: readonly Uint32Array[];
  /** Index of the first count of each group, and the number of all counts. */
  readonly starts: Uint32Array;
  /** First ticks of steps, one for each count. */
  readonly ticks: Float64Array;
  readonly counts: Uint32Array;
  /** First ticks of the first and the last step with logs; from > until = none. */
  readonly span: readonly [from: number, until: number];
  /** Memory in units of 8 bytes; a text takes as much as 10 of them. */
  readonly size: number;
}

export function toPartCounts(step: CountStep, rows: readonly PartCountRow[]): PartCounts {
  const indexes = new Map<string, number>();
  const indexOf = (text: string) => numberOf(indexes, text);
  const total = rows.reduce((sum, [, , ticks]) => sum + ticks.length, 0);
  const fields = rows[0]?.[1].length ?? 0;
  const streams = new Uint32Array(rows.length);
  const values = Array.from({ length: fields }, () => new Uint32Array(rows.length));
  const starts = new Uint32Array(rows.length + 1);
  const all = { ticks: new Float64Array(total), counts: new Uint32Array(total) };
  for (const [i, [streamId, texts, ticks, counts]] of rows.entries()) {
    streams[i] = indexOf(streamId);
    for (const [k, text] of texts.entries()) values[k]![i] = indexOf(text);
    all.ticks.set(ticks, starts[i]);
    all.counts.set(counts, starts[i]);
    starts[i + 1] = starts[i]! + ticks.length;
  }
  const size = 1.5 * total + (rows.length * (2 + fields)) / 2 + indexes.size * 10;
  const span = spanOf(all.ticks);
  return { step, texts: [...indexes.keys()], streams, values, starts, ...all, span, size };
}

function spanOf(ticks: Float64Array): PartCounts['span'] {
  let [from, until] = [Infinity, -Infinity];
  for (const tick of ticks) {
    from = Math.min(from, tick);
    until = Math.max(until, tick);
  }
  return [from, until];
}

/** By the longest of their steps. @param all counts by the same fields, at least one */
export function addPartCounts(all: readonly PartCounts[]): PartCounts {
  if (all.length === 1) return all[0]!;
  const { step } = all.reduce((a, b) => (b.step > a.step ? b : a));
  const { texts, columns, places } = sharedGroups(all);
  const [streams, ...values] = columns.map((column) => Uint32Array.from(column));
  const starts = new Uint32Array(streams!.length + 1);
  const most = all.reduce((sum, { counts }) => sum + counts.length, 0);
  const ticks = new Float64Array(most);
  const counts = new Uint32Array(most);
  let total = 0;
  const sums = new Map<number, number>();
  for (let group = 0; group < streams!.length; group++) {
    sums.clear();
    for (const [p, part] of all.entries()) {
      const i = places[p]![group];
      if (i === undefined) continue;
      for (let k = part.starts[i]!; k < part.starts[i + 1]!; k++) {
        const tick = firstTick(part.ticks[k]!, step);
        sums.set(tick, (sums.get(tick) ?? 0) + part.counts[k]!);
      }
    }
    for (const [tick, count] of sums) {
      ticks[total] = tick;
      counts[total++] = count;
    }
    starts[group + 1] = total;
  }
  const kept = { ticks: ticks.slice(0, total), counts: counts.slice(0, total) };
  const size = 1.5 * total + (streams!.length * (2 + values.length)) / 2 + texts.length * 10;
  const span = spanOf(kept.ticks);
  return { step, texts, streams: streams!, values, starts, ...kept, span, size };
}

/**
 * The groups of several parts without an object for each: there may be a hundred thousand.
 * @returns streams and values of the groups, and for each part the place of a group in it
 */
function sharedGroups(all: readonly PartCounts[]) {
  const texts = new Map<string, number>();
  // A part without groups has no columns.
  const width = 1 + Math.max(...all.map(({ values }) => values.length));
  const columns = Array.from({ length: width }, (): number[] => []);
  // Each numbers the combinations of what is before it and its own text.
  const levels = columns.map(() => new Map<number, number>());
  const places = all.map((part) => {
    const own = part.texts.map((text) => numberOf(texts, text));
    const place: (number | undefined)[] = [];
    for (let i = 0; i < part.streams.length; i++) {
      let group = 0;
      for (let k = 0; k < width; k++) {
        const column = k === 0 ? part.streams : part.values[k - 1]!;
        group = numberOf(levels[k]!, group * maxTexts + own[column[i]!]!);
      }
      place[group] = i;
      if (group < columns[0]!.length) continue;
      columns[0]!.push(own[part.streams[i]!]!);
      for (const [k, column] of part.values.entries()) columns[k + 1]!.push(own[column[i]!]!);
    }
    return place;
  });
  return { texts: [...texts.keys()], columns, places };
}

/** Far more than fit in memory; products with the number of a group are exact. */
const maxTexts = 2 ** 26;

function numberOf<T>(numbers: Map<T, number>, value: T): number {
  const number = numbers.get(value) ?? numbers.size;
  numbers.set(value, number);
  return number;
}

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
  /** The range and the edges of buckets, by the step of the counts. */
  readonly ticks: TicksByStep;
}

/** The counts of a part, and which of its steps the query holds. */
export interface CountedPart {
  /** By which it is counted: at least those of the query. */
  readonly fields: readonly CountField[];
  readonly counts: PartCounts;
  readonly ticks: Ticks;
}

/** The value of each of some fields, and the range of the counts of this group. */
type AddMatch = (values: readonly string[], from: number, until: number) => void;

/** Calls `add` for each group that matches. */
export function eachMatch(
  part: CountedPart,
  of: readonly GroupField[],
  filter: LogFilter,
  add: AddMatch,
): void {
  const { fields, counts } = part;
  const { texts, streams, starts } = counts;
  const matches = groupFilter(filter, fields, counts);
  const columns = of.map((field) =>
    field === 'streamId' ? streams : counts.values[fields.indexOf(field as CountField)],
  );
  for (let i = 0; i < streams.length; i++) {
    // A part without groups has no columns.
    const values = () => columns.map((column) => texts[column![i]!]!);
    if (matches(i)) add(values(), starts[i]!, starts[i + 1]!);
  }
}

/** Whether the ticks hold all of a step, by the first tick of it or of a part of it. */
export function wholeSteps({ step, from, until, cut }: Ticks): (tick: number) => boolean {
  const isCut = new Set(cut);
  return (tick) =>
    tick >= from && tick < until && (isCut.size === 0 || !isCut.has(firstTick(tick, step)));
}

/** Faster than a remainder of numbers of more than 32 bits. */
function firstTick(tick: number, step: CountStep): number {
  return Math.floor(tick / step) * step;
}

/** The conditions of `whereSql` that counts can answer, tested once for each text. */
function groupFilter(
  { streams, equal, excluded, minSeverity }: LogFilter,
  fields: readonly CountField[],
  counts: PartCounts,
): (group: number) => boolean {
  const conditions: (readonly [column: Uint32Array, isWanted: Uint8Array])[] = [];
  const add = (column: Uint32Array | undefined, test: (text: string) => boolean) => {
    // A part without groups has no columns.
    if (column === undefined) return;
    conditions.push([column, Uint8Array.from(counts.texts, (text) => Number(test(text)))]);
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
  return (group) => conditions.every(([column, isWanted]) => isWanted[column[group]!] === 1);
}

function storedValues(field: EqualityField, values: readonly string[]): ReadonlySet<string> {
  return new Set(values.map((value) => toStoredValue(field, value)));
}
