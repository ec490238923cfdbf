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

export class ExemplarReader {
  readonly #bytes: Buffer;
  readonly #series: SeriesReader;
  readonly #grammar: Grammar;
  readonly #numbers = new NumberScanner();
  readonly #time = new TimeScanner();

  constructor(bytes: Buffer, series: SeriesReader, grammar: Grammar) {
    this.#bytes = bytes;
    this.#series = series;
    this.#grammar = grammar;
  }

  /**
   * @param start the position of the '#' @param sampleTime default for the exemplar's time
   * @throws AppError `malformed`
   */
  read(start: number, sampleTime: Time): { end: number; exemplar: Exemplar } {
    const bytes = this.#bytes;
    const blank = { grammar: this.#grammar, expected: 'one space' };
    const braces = expectBlank(bytes, start + 1, blank);
    const labels = this.#readLabels(braces);
    const valueStart = expectBlank(bytes, this.#series.end, blank);
    let end = this.#numbers.scan(bytes, valueStart);
    if (end < 0 || !endsToken(bytes[end])) failAt(bytes, valueStart, "an exemplar's value");
    const value = Buffer.allocUnsafe(8);
    value.writeDoubleLE(this.#numbers.value);
    let time = sampleTime;
    if (bytes[end] === space && !endsLine(bytes[end + 1])) {
      end = readTime(bytes, end + 1, this.#time, this.#grammar);
      time = this.#time;
    }
    return { end, exemplar: { time, value, labels } };
  }

  #readLabels(start: number): Uint8Array {
    const labels = this.#series.readExemplar(start);
    let characters = 0;
    for (const [name, value] of labels) characters += Array.from(name + value).length;
    if (characters > maxLabelCharacters) {
      refuseAt(
        this.#bytes,
        start,
        `the labels of an exemplar have ${characters} characters, more than ${maxLabelCharacters}`,
      );
    }
    const present = labels.filter(([, value]) => value !== '');
    return encodeLabels(present.sort(([a], [b]) => compareUtf8(a, b)));
  }
}
