/**
 * Parses series, `name{label="value",…}`, and the labels of exemplars. Series are cached by their
 * bytes, so that this path favours precise errors over speed.
 */
import { spellBounds } from '../../codec/bound-labels.ts';
import { type LabelLimits, toCanonicalLabels } from '../../codec/series-labels.ts';
import { type Label, metricNameLabel } from '../../model/metric-plan.ts';
import {
  closeBrace,
  comma,
  equals,
  failAt,
  type Grammar,
  labelName,
  metricName,
  openBrace,
  quote,
  readQuoted,
  refuseAt,
  skipBlanks,
  skipName,
  skipNameBytes,
  skipQuoted,
} from './tokens.ts';

/**
 * Finds the end of a series' text without parsing it.
 * @returns -1 if there is none; `readSeries` then throws the reason
 */
export function findSeriesEnd(bytes: Buffer, start: number, grammar: Grammar): number {
  const nameEnd = skipNameBytes(bytes, start);
  let at = skipBlanks(bytes, nameEnd, grammar);
  if (bytes[at] !== openBrace) return nameEnd === start ? -1 : nameEnd;
  for (at += 1; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === closeBrace) return at + 1;
    if (byte !== quote) continue;
    at = skipQuoted(bytes, at + 1);
    if (at < 0) return -1;
  }
  return -1;
}

/** Reads label sets of one body. */
export class SeriesReader {
  /** The position after the series or labels read last. */
  end = 0;
  readonly #bytes: Buffer;
  readonly #grammar: Grammar;
  readonly #limits: LabelLimits;

  constructor(bytes: Buffer, grammar: Grammar, limits: LabelLimits) {
    this.#bytes = bytes;
    this.#grammar = grammar;
    this.#limits = limits;
  }

  /** @returns the labels in canonical form. @throws AppError `malformed` */
  readSeries(start: number): Label[] {
    const bytes = this.#bytes;
    const nameEnd = skipName(bytes, start, metricName);
    const braces = skipBlanks(bytes, nameEnd, this.#grammar);
    const hasBraces = bytes[braces] === openBrace;
    if (nameEnd === start && !hasBraces) failAt(bytes, start, 'the name of a metric');
    const labels: Label[] = [];
    if (nameEnd > start) labels.push([metricNameLabel, bytes.toString('latin1', start, nameEnd)]);
    this.end = nameEnd;
    if (hasBraces) this.#readBraces(braces, labels, 'series');
    const canonical = toCanonicalLabels(labels, this.#limits);
    if (typeof canonical === 'string') refuseAt(bytes, start, this.#explain(canonical));
    return spellBounds(canonical);
  }

  /** @returns the labels in the order sent. @throws AppError `malformed` */
  readExemplar(start: number): Label[] {
    if (this.#bytes[start] !== openBrace) failAt(this.#bytes, start, "'{' of an exemplar's labels");
    const labels: Label[] = [];
    this.#readBraces(start, labels, 'exemplar');
    return labels;
  }

  #readBraces(start: number, labels: Label[], owner: 'series' | 'exemplar'): void {
    const bytes = this.#bytes;
    const seen = new Set(labels.map(([name]) => name));
    let at = this.#skipBlanks(start + 1);
    if (bytes[at] !== closeBrace) {
      for (;;) {
        at = this.#skipBlanks(this.#readLabel(at, labels, owner));
        this.#admit(labels, seen);
        if (bytes[at] !== comma) break;
        at = this.#skipBlanks(at + 1);
        if (this.#grammar.spacing === 'any' && bytes[at] === closeBrace) break;
      }
    }
    if (bytes[at] !== closeBrace) failAt(bytes, at, "',' or '}'");
    this.end = at + 1;
  }

  /** Sets `end` to the position of the label that it adds. */
  #readLabel(start: number, labels: Label[], owner: 'series' | 'exemplar'): number {
    const bytes = this.#bytes;
    const isQuoted = bytes[start] === quote;
    const nameEnd = isQuoted ? this.#endOfQuoted(start) : skipName(bytes, start, labelName);
    if (nameEnd === start) failAt(bytes, start, 'the name of a label');
    const name = isQuoted
      ? readQuoted(bytes, start + 1, nameEnd - 1, this.#grammar)
      : bytes.toString('latin1', start, nameEnd);
    this.end = start;
    const at = this.#skipBlanks(nameEnd);
    if (bytes[at] !== equals) {
      const isMetric =
        isQuoted && owner === 'series' && (bytes[at] === comma || bytes[at] === closeBrace);
      if (!isMetric) failAt(bytes, at, "'='");
      if (name === '') refuseAt(bytes, start, 'the name of a metric is empty');
      labels.push([metricNameLabel, name]);
      return at;
    }
    this.#checkName(name, start);
    const value = this.#skipBlanks(at + 1);
    if (bytes[value] !== quote) failAt(bytes, value, "the value of a label in '\"'");
    const valueEnd = this.#endOfQuoted(value);
    labels.push([name, readQuoted(bytes, value + 1, valueEnd - 1, this.#grammar)]);
    return valueEnd;
  }

  #checkName(name: string, at: number): void {
    if (name === '') refuseAt(this.#bytes, at, 'the name of a label is empty');
    const { reservedPrefix } = this.#grammar;
    const isReserved = reservedPrefix !== undefined && name.startsWith(reservedPrefix);
    if (name !== metricNameLabel && !isReserved) return;
    refuseAt(this.#bytes, at, `the label name ${JSON.stringify(cut(name))} is reserved`);
  }

  /** Counts labels with an empty value too: they cost as much to read. */
  #admit(labels: readonly Label[], seen: Set<string>): void {
    const [name = ''] = labels.at(-1) ?? [];
    if (seen.has(name)) {
      const what = name === metricNameLabel ? 'second name of the metric' : 'repeated label name';
      refuseAt(this.#bytes, this.end, `${what} ${JSON.stringify(cut(name))}`);
    }
    seen.add(name);
    if (labels.length > this.#limits.maxLabels) {
      refuseAt(this.#bytes, this.end, this.#explain('too many labels'));
    }
  }

  /** Adds the limit and its setting to a reason of `toCanonicalLabels`. */
  #explain(reason: string): string {
    const { maxLabels, maxLabelNameLength, maxLabelValueLength } = this.#limits;
    if (reason === 'too many labels') {
      return `more than ${maxLabels} labels, the metric's name included: raise metrics.maxLabels`;
    }
    if (reason === 'label name too long') {
      const limit = `more than ${maxLabelNameLength} characters`;
      return `a label name of ${limit}: raise metrics.maxLabelNameLength`;
    }
    if (reason === 'label value too long') {
      return (
        `a name or label value of more than ${maxLabelValueLength} characters: ` +
        'raise metrics.maxLabelValueLength'
      );
    }
    return reason === 'no metric name' ? 'the series has no metric name' : reason;
  }

  #endOfQuoted(start: number): number {
    const end = skipQuoted(this.#bytes, start + 1);
    if (end < 0) refuseAt(this.#bytes, start, "no closing '\"' before the end of the line");
    return end + 1;
  }

  #skipBlanks(at: number): number {
    return skipBlanks(this.#bytes, at, this.#grammar);
  }
}

const maxShown = 40;

function cut(text: string): string {
  return text.length > maxShown ? `${text.slice(0, maxShown)}…` : text;
}
