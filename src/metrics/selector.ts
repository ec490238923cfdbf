/**
 * Series selectors of PromQL, `up{job="api",host!~"b.*"}`; no other PromQL.
 * https://prometheus.io/docs/prometheus/latest/querying/basics/#time-series-selectors Pure.
 */
import { AppError } from '../model/errors.ts';
import {
  type LabelMatcher,
  type MatcherType,
  type Selector,
  metricNameLabel,
} from '../model/metric-plan.ts';
import { readQuoted } from '../promql/parser/quoted-text.ts';

const blank = /(?:[ \t\r\n]|#[^\n]*)*/y;
const metricName = /[a-z_:][a-z0-9_:]*/iy;
const labelName = /[a-z_][a-z0-9_]*/iy;
const operator = /=~|!~|!=|=/y;

const matcherTypes: Readonly<Record<string, MatcherType>> = {
  '=': 'equal',
  '!=': 'notEqual',
  '=~': 'matches',
  '!~': 'notMatches',
};

/**
 * @param parameter name of the parameter, for the message.
 * @throws AppError `malformed`, with the position of the fault
 */
export function parseSelector(text: string, parameter: string): Selector {
  const scanner = new Scanner(text, parameter);
  const matchers: LabelMatcher[] = [];
  const name = scanner.take(metricName);
  if (name !== undefined) matchers.push(named(name));
  if (scanner.takeText('{')) readMatchers(scanner, matchers, name);
  else if (name === undefined) throw scanner.fault('expected a metric name or {');
  if (!scanner.atEnd()) {
    throw scanner.fault('expected the end: one series selector is taken, no other PromQL');
  }
  if (matchers.every(matchesAbsent)) {
    throw new AppError(
      'malformed',
      `cannot use the series selector in ${parameter}: one of its matchers must ask for a value`,
      { parameter },
    );
  }
  return matchers;
}

/** Matchers and the closing brace. */
function readMatchers(scanner: Scanner, matchers: LabelMatcher[], before: string | undefined) {
  let name = before;
  while (!scanner.takeText('}')) {
    const start = scanner.at;
    const quoted = scanner.takeQuoted();
    const label = quoted ?? scanner.take(labelName);
    if (label === undefined) throw scanner.fault('expected a label name or }');
    const sign = scanner.take(operator);
    const isName = quoted !== undefined && sign === undefined;
    if (isName || label === metricNameLabel) {
      // PromQL lets several matchers of `__name__` stand together, but not beside a name.
      if (name !== undefined && (isName || name === before)) {
        throw scanner.fault('the metric name is given twice', start);
      }
      if (isName) name = label;
    }
    if (isName) matchers.push(named(label));
    else matchers.push(readComparison(scanner, label, sign));
    if (scanner.takeText(',') || scanner.peeks('}')) continue;
    throw scanner.fault('expected , or }');
  }
}

function readComparison(scanner: Scanner, name: string, sign: string | undefined): LabelMatcher {
  const type = matcherTypes[sign ?? ''];
  if (type === undefined) throw scanner.fault('expected one of = != =~ !~');
  if (name === '') throw scanner.fault('expected a label name that is not empty');
  const value = scanner.takeQuoted();
  if (value === undefined) throw scanner.fault('expected a value in quotes');
  return { name, type, value };
}

function named(value: string): LabelMatcher {
  return { name: metricNameLabel, type: 'equal', value };
}

/**
 * True where a series without the label matches. Only trivial patterns are evaluated: the store
 * compiles patterns of clients under its limits.
 */
function matchesAbsent({ type, value }: LabelMatcher): boolean {
  switch (type) {
    case 'equal':
      return value === '';
    case 'notEqual':
      return value !== '';
    case 'matches':
      return value === '' || value === '.*';
    case 'notMatches':
      return value !== '' && value !== '.*';
  }
}

/** A cursor in the text that skips blanks and comments before a token. */
class Scanner {
  at = 0;
  readonly #text: string;
  readonly #parameter: string;

  constructor(text: string, parameter: string) {
    this.#text = text;
    this.#parameter = parameter;
  }

  take(token: RegExp): string | undefined {
    this.#skip(blank);
    return this.#skip(token);
  }

  takeText(text: string): boolean {
    if (!this.peeks(text)) return false;
    this.at += text.length;
    return true;
  }

  peeks(text: string): boolean {
    this.#skip(blank);
    return this.#text.startsWith(text, this.at);
  }

  takeQuoted(): string | undefined {
    this.#skip(blank);
    const quoted = readQuoted(this.#text, this.at);
    if (quoted === undefined) return undefined;
    if (quoted.fault !== undefined) throw this.fault(quoted.fault, quoted.end);
    this.at = quoted.end;
    return quoted.value;
  }

  atEnd(): boolean {
    this.#skip(blank);
    return this.at === this.#text.length;
  }

  fault(reason: string, at = this.at): AppError {
    const where = at >= this.#text.length ? 'its end' : `character ${at + 1}`;
    const message = `cannot read the series selector in ${this.#parameter} at ${where}: ${reason}`;
    return new AppError('malformed', message, { parameter: this.#parameter });
  }

  #skip(token: RegExp): string | undefined {
    token.lastIndex = this.at;
    const found = token.exec(this.#text)?.[0];
    if (found !== undefined) this.at += found.length;
    return found;
  }
}
