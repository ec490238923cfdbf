/** Parses the lines `# HELP`, `# TYPE` and `# UNIT`, which describe a metric family. */
import type { LabelLimits } from '../../codec/series-labels.ts';
import {
  carriageReturn,
  expectBlank,
  failAt,
  type Grammar,
  isBlank,
  type MetadataKind,
  metricName,
  newline,
  quote,
  readQuoted,
  refuseAt,
  skipBlanks,
  skipName,
  skipQuoted,
  space,
  unescape,
} from './tokens.ts';

export interface MetadataLine {
  readonly kind: MetadataKind;
  readonly name: string;
  /** Unescaped; may be empty. */
  readonly text: string;
}

/** A comment, or `# EOF`. */
export type CommentKind = 'comment' | 'eof';

export class MetadataReader {
  /** The position after the line read last. */
  next = 0;
  readonly #bytes: Buffer;
  readonly #grammar: Grammar;
  /** UTF-16 units of names and texts. */
  readonly #maxLength: number;

  constructor(bytes: Buffer, grammar: Grammar, { maxLabelValueLength }: LabelLimits) {
    this.#bytes = bytes;
    this.#grammar = grammar;
    this.#maxLength = maxLabelValueLength;
  }

  /** @param start the position of the '#'. @throws AppError `malformed` */
  read(start: number): MetadataLine | CommentKind {
    const bytes = this.#bytes;
    const found = bytes.indexOf(newline, start);
    const lineEnd = found < 0 ? bytes.length : found;
    this.next = found < 0 ? lineEnd : lineEnd + 1;
    if (this.#grammar.spacing === 'any') return this.#readClassic(start + 1, lineEnd);
    return this.#readStrict(start, lineEnd);
  }

  /** Incomplete lines are comments, as in the parsers of Prometheus. */
  #readClassic(start: number, lineEnd: number): MetadataLine | CommentKind {
    const bytes = this.#bytes;
    const end = bytes[lineEnd - 1] === carriageReturn ? lineEnd - 1 : lineEnd;
    const word = skipBlanks(bytes, start, this.#grammar);
    const kind = this.#kindAt(word);
    const wordEnd = word + 4;
    if (kind === undefined || (wordEnd < end && !isBlank(bytes[wordEnd]))) return 'comment';
    const name = skipBlanks(bytes, wordEnd, this.#grammar);
    if (name >= end) return 'comment';
    const nameEnd = this.#endOfName(name);
    if (nameEnd < end && !isBlank(bytes[nameEnd])) failAt(bytes, nameEnd, 'a blank after the name');
    const text = skipBlanks(bytes, nameEnd, this.#grammar);
    if (text >= end) return 'comment';
    return this.#toLine(kind, { name, nameEnd, text, end });
  }

  #readStrict(start: number, end: number): MetadataLine | CommentKind {
    const bytes = this.#bytes;
    const at = start + 2;
    if (bytes[start + 1] !== space) failAt(bytes, start + 1, "one space after '#'");
    if (bytes.toString('latin1', at, end) === 'EOF') return 'eof';
    if (bytes[end - 1] === carriageReturn) {
      failAt(bytes, end - 1, 'the end of the line (OpenMetrics ends lines with \\n alone)');
    }
    const kind = this.#kindAt(at);
    if (kind === undefined) failAt(bytes, at, 'HELP, TYPE, UNIT or EOF (there are no comments)');
    if (end === bytes.length) failAt(bytes, end, 'the end of the line');
    const context = { grammar: this.#grammar, expected: 'one space' };
    const name = expectBlank(bytes, at + 4, context);
    const nameEnd = this.#endOfName(name);
    const text = expectBlank(bytes, nameEnd, context);
    return this.#toLine(kind, { name, nameEnd, text, end });
  }

  #kindAt(at: number): MetadataKind | undefined {
    const word = this.#bytes.toString('latin1', at, at + 4);
    return this.#grammar.metadata.find((kind) => kind === word);
  }

  #endOfName(start: number): number {
    const bytes = this.#bytes;
    if (bytes[start] === quote) {
      const end = skipQuoted(bytes, start + 1);
      if (end < 0) refuseAt(bytes, start, "no closing '\"' before the end of the line");
      if (end === start + 1) refuseAt(bytes, start, 'the name of a metric is empty');
      return end + 1;
    }
    const end = skipName(bytes, start, metricName);
    if (end === start) failAt(bytes, start, 'the name of a metric');
    return end;
  }

  #toLine(kind: MetadataKind, place: Place): MetadataLine {
    const bytes = this.#bytes;
    const { name: start, nameEnd, text: textStart, end } = place;
    const name =
      bytes[start] === quote
        ? readQuoted(bytes, start + 1, nameEnd - 1, this.#grammar)
        : bytes.toString('latin1', start, nameEnd);
    this.#checkLength(name, start);
    if (kind === 'HELP') {
      const quotes = this.#grammar.spacing === 'any' ? -1 : quote;
      const help = unescape(bytes, { start: textStart, end, quotes });
      this.#checkLength(help, textStart);
      return { kind, name, text: help };
    }
    const text = bytes.toString('utf8', textStart, this.#skipBlanksBack(end));
    if (kind === 'TYPE' && !this.#grammar.types.includes(text)) {
      failAt(bytes, textStart, `a type (${this.#grammar.types.join(', ')})`);
    }
    if (kind === 'UNIT' && !/^[a-zA-Z0-9_:]*$/.test(text)) failAt(bytes, textStart, 'a unit');
    this.#checkLength(text, textStart);
    return { kind, name, text };
  }

  #skipBlanksBack(end: number): number {
    let at = end;
    if (this.#grammar.spacing === 'any') while (isBlank(this.#bytes[at - 1])) at -= 1;
    return at;
  }

  #checkLength(text: string, at: number): void {
    if (text.length <= this.#maxLength) return;
    const limit = `more than ${this.#maxLength} characters: raise metrics.maxLabelValueLength`;
    refuseAt(this.#bytes, at, `a name or text of ${limit}`);
  }
}

/** Positions in the body. */
interface Place {
  readonly name: number;
  readonly nameEnd: number;
  readonly text: number;
  readonly end: number;
}
