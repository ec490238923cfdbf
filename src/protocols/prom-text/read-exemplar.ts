/** Parses exemplars of OpenMetrics, ` # {labels} value [time]`. */
import type { Time } from '../../codec/metric-writer.ts';
import { compareUtf8, encodeLabels } from '../../codec/series-labels.ts';
import type { Exemplar } from '../../codec/series-rows.ts';
import {
  endsLine,
  endsToken,
  expectBlank,
  failAt,
  type Grammar,
  refuseAt,
  space,
} from './tokens.ts';
import { NumberScanner, readTime, TimeScanner } from './numbers.ts';
import type { SeriesReader } from './series-text.ts';

/** Code points of all names and values together. */
const maxLabelCharacters = 128;

interface Reading {
  readonly series: SeriesReader;
  readonly grammar: Grammar;
  /** Of the exemplar without a time. */
  readonly sampleTime: Time;
}

/** @param start the position of the '#'. @throws AppError `malformed` */
export function readExemplar(
  bytes: Buffer,
  start: number,
  { series, grammar, sampleTime }: Reading,
): { end: number; exemplar: Exemplar } {
  const blank = { grammar, expected: 'one space' };
  const braces = expectBlank(bytes, start + 1, blank);
  const labels = readLabels(bytes, braces, series);
  const valueStart = expectBlank(bytes, series.end, blank);
  const numbers = new NumberScanner();
  let end = numbers.scan(bytes, valueStart);
  if (end < 0 || !endsToken(bytes[end])) failAt(bytes, valueStart, "an exemplar's value");
  const value = Buffer.allocUnsafe(8);
  value.writeDoubleLE(numbers.value);
  if (bytes[end] !== space || endsLine(bytes[end + 1])) {
    return { end, exemplar: { time: sampleTime, value, labels } };
  }
  const time = new TimeScanner();
  end = readTime(bytes, end + 1, time, grammar);
  return { end, exemplar: { time, value, labels } };
}

function readLabels(bytes: Buffer, start: number, series: SeriesReader): Uint8Array {
  const labels = series.readExemplar(start);
  let characters = 0;
  for (const [name, value] of labels) characters += Array.from(name + value).length;
  if (characters > maxLabelCharacters) {
    refuseAt(
      bytes,
      start,
      `the labels of an exemplar have ${characters} characters, more than ${maxLabelCharacters}`,
    );
  }
  const present = labels.filter(([, value]) => value !== '');
  return encodeLabels(present.sort(([a], [b]) => compareUtf8(a, b)));
}
