/** The filter of logs for rows in memory: the conditions of `whereSql`. Pure. */
import { type EqualityField, logFields, toStoredValue } from '../../model/log-fields.ts';
import type { LabelPair, LogFilter, SearchTerm } from '../../model/plan.ts';
import { levelNumbers } from '../../model/severity.ts';
import {
  attributeIndexes,
  columnIndex,
  messageIndex,
  severityNumberIndex,
} from '../sql/log-record.ts';
import type { PlacedRow } from './stream-rows.ts';
import { hasOnlyAsciiCase, lowerAscii } from '../sql/where.ts';

/** A log by the columns of its row. */
export type LogColumns = Pick<PlacedRow, 'at'>;
type RowTest = (log: LogColumns) => boolean;

/** Whether `rowFilter` finds what the store finds. It knows no conditions of the query language. */
export function canFilter({ search, conditions = [] }: LogFilter): boolean {
  // Bytes that are not UTF-8 are read as U+FFFD.
  const isExact = ({ text }: SearchTerm) => hasOnlyAsciiCase(text) && !text.includes('\ufffd');
  return conditions.length === 0 && search.every(isExact);
}

/** Tests everything but the stream and the times. */
export function rowFilter(filter: LogFilter): RowTest {
  const { equal, labels, search, minSeverity = 0, excluded } = filter;
  const wanted = [
    ...[...equal].map(([field, values]) => anyOf(field, values)),
    ...labels.map(hasLabel),
  ];
  const unwanted = [
    ...[...(excluded?.equal ?? [])].map(([field, values]) => anyOf(field, values)),
    ...(excluded?.labels ?? []).map(hasLabel),
  ];
  const hasTerms = search.length === 0 ? () => true : searchTest(search);
  const isSevere: RowTest =
    minSeverity === 0 ? () => true : (log) => Number(log.at(severityNumberIndex)) >= minSeverity;
  return (log) =>
    isSevere(log) &&
    wanted.every((test) => test(log)) &&
    !unwanted.some((test) => test(log)) &&
    hasTerms(log);
}

function anyOf(field: EqualityField, values: readonly string[]): RowTest {
  const { column, filter } = logFields[field];
  const index = columnIndex(column);
  const stored = values.map((value) => toStoredValue(field, value));
  if (filter.match !== 'level') {
    const texts = new Set(stored);
    return (log) => texts.has(log.at(index) as string);
  }
  const numbers = new Set(stored.flatMap(levelNumbers));
  const words = new Set(stored.filter((word) => levelNumbers(word).length === 0));
  return (log) =>
    numbers.has(Number(log.at(severityNumberIndex))) || words.has(log.at(index) as string);
}

/** The log's own attribute hides the resource's; a missing key is the empty value. */
function hasLabel({ key, value }: LabelPair): RowTest {
  const [own, inherited] = attributeIndexes;
  return (log) => {
    const ownAttributes = log.at(own);
    const attributes = Object.hasOwn(ownAttributes, key) ? ownAttributes : log.at(inherited);
    return (Object.hasOwn(attributes, key) ? attributes[key] : '') === value;
  };
}

function searchTest(search: readonly SearchTerm[]): RowTest {
  const terms = search.map(({ text, exclude }) => ({ text: lowerAscii(text), exclude }));
  return (log) => {
    const message = log.at(messageIndex);
    // Of ASCII, `toLowerCase` does the same in a tenth of the time.
    const lowered = isAscii.test(message) ? message.toLowerCase() : lowerAscii(message);
    return terms.every(({ text, exclude }) => lowered.includes(text) !== exclude);
  };
}

const isAscii = /^[\0-\x7f]*$/;
