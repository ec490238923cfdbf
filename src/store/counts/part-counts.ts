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
import type { Minutes } from './minutes.ts';

export interface PartCounts {
  readonly step: CountStep;
  readonly groups: readonly CountGroup[];
  /** First minutes of the first and the last step with logs; from > until = none. */
  readonly span: readonly [from: number, until: number];
  /** Memory in units of one count; a group takes as much as 40 of them. */
  readonly size: number;
}

export interface CountGroup {
  readonly streamId: string;
  /** In the order of the fields that are counted. */
  readonly values: readonly string[];
  /** First minutes of steps since 1970, one for each count. */
  readonly minutes: Int32Array;
  readonly counts: Uint32Array;
}

export function toPartCounts(step: CountStep, rows: readonly PartCountRow[]): PartCounts {
  const groups = rows.map(([streamId, values, minutes, counts]) => ({
    streamId,
    values,
    minutes: Int32Array.from(minutes),
    counts: Uint32Array.from(counts),
  }));
  const size = groups.reduce((sum, { counts }) => sum + counts.length + 40, 0);
  return { step, groups, span: spanOf(groups), size };
}

function spanOf(groups: readonly CountGroup[]): PartCounts['span'] {
  let [from, until] = [Infinity, -Infinity];
  for (const { minutes } of groups) {
    for (const minute of minutes) {
      from = Math.min(from, minute);
      until = Math.max(until, minute);
    }
  }
  return [from, until];
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

/** A log may have a word of its own and a number, by which it is counted. */
function isGroup(field: EqualityField, value: string): boolean {
  const stored = toStoredValue(field, value);
  return field !== 'severity' || stored === '' || levelNumbers(stored).length > 0;
}

/**
 * The fields that must be counted to group the logs that match a filter.
 * @returns in the order of the table of fields, then labels
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
  return [...equalityFields.filter((field) => wanted.has(field)), ...grouped.filter(isLabelField)];
}

export interface CountQuery {
  readonly filter: LogFilter;
  /** Lists as `countedFields` returns them, one for each grouping. */
  readonly fields: readonly (readonly CountField[])[];
  /** The range and the edges of buckets, by the step of the counts. */
  readonly minutes: Readonly<Record<CountStep, Minutes>>;
}

/** The counts of a part, and which of its steps the query holds. */
export interface CountedPart {
  /** By which it is counted: at least those of the query. */
  readonly fields: readonly CountField[];
  readonly counts: PartCounts;
  readonly minutes: Minutes;
}

/** Calls `add` with each group that matches, and the value that it has in `field`. */
export function eachMatch(
  { fields, counts }: CountedPart,
  field: GroupField | undefined,
  filter: LogFilter,
  add: (value: string, group: CountGroup) => void,
): void {
  const matches = groupFilter(filter, fields);
  const index = fields.indexOf(field as CountField);
  for (const group of counts.groups) {
    if (!matches(group)) continue;
    add(field === 'streamId' ? group.streamId : (group.values[index] ?? ''), group);
  }
}

/** Whether the minutes hold all of a step, by the first minute of it or of a part of it. */
export function wholeSteps({ step, from, until, cut }: Minutes): (minute: number) => boolean {
  const isCut = new Set(cut);
  return (minute) =>
    minute >= from && minute < until && (isCut.size === 0 || !isCut.has(minute - (minute % step)));
}

/** The conditions of `whereSql` that counts can answer. */
function groupFilter(
  filter: LogFilter,
  fields: readonly CountField[],
): (group: CountGroup) => boolean {
  const streamIds = new Set(filter.streams.map(({ streamId }) => streamId));
  const wanted = valueSets(filter.equal, fields);
  const excluded = valueSets(filter.excluded?.equal ?? new Map(), fields);
  const severity = fields.indexOf('severity');
  const { minSeverity = 0 } = filter;
  return ({ streamId, values }) =>
    streamIds.has(streamId) &&
    (minSeverity === 0 || (levelNumbers(values[severity]!)[0] ?? 0) >= minSeverity) &&
    wanted.every(([index, set]) => set.has(values[index]!)) &&
    !excluded.some(([index, set]) => set.has(values[index]!));
}

function valueSets(equal: LogFilter['equal'], fields: readonly CountField[]) {
  return [...equal].map(([field, values]) => {
    const stored = values.map((value) => toStoredValue(field, value));
    return [fields.indexOf(field), new Set(stored)] as const;
  });
}
