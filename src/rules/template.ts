/**
 * Templates of labels and annotations: the part of Prometheus' templates that inserts values. They
 * have no conditions, loops or queries.
 * https://prometheus.io/docs/prometheus/latest/configuration/template_reference/
 */
import { humanize, humanize1024, humanizeDuration, humanizePercentage } from './humanize.ts';
import {
  formatGo,
  parseGoNumber,
  type Scalar,
  sprintf,
  TemplateError,
  UnsupportedForm,
} from './sprintf.ts';
import type { RuleSample } from '../model/rules.ts';
import { unsignedDecimal } from '../std/decimal.ts';

export type Template = (sample: RuleSample) => string;

type TemplateValue = Scalar | Readonly<Record<string, string>>;
type Term = (sample: RuleSample) => TemplateValue;
type TemplateFunction = (...values: readonly TemplateValue[]) => TemplateValue;

// A comment ends at its first mark, and what begins as one is nothing else: each is read once.
const inAction =
  /\s*\/\*(?:(?!\*\/)[^])*\*\/\s*|(?!\s*\/\*)(?:[^"`}]|"(?:[^"\\]|\\[^])*"|`[^`]*`|\}(?!\}))*?/;
const action = new RegExp(String.raw`\{\{(?:-(?=\s))?(${inAction.source})(?:(?<=\s)-)?\}\}`, 'y');
const token = new RegExp(
  [
    String.raw`\s*(?:(\$?[a-zA-Z_]\w*)?((?:\.[a-zA-Z_]\w*)+)`,
    String.raw`(\$?[a-zA-Z_]\w*)`,
    '("(?:[^"\\\\]|\\\\[^])*"|`[^`]*`)',
    String.raw`([+-]?(?:0[xX][\da-fA-F]+|0[oO][0-7]+|0[bB][01]+|${unsignedDecimal})(?![\w.]))`,
    String.raw`([|()]))`,
  ].join('|'),
  'gy',
);

/**
 * A value that cannot be expanded becomes an error in the text, as with Prometheus: the alert
 * itself must be raised.
 * @throws TemplateError that names what is unknown
 */
export function compileTemplate(text: string): Template {
  const parts = compile(text);
  return (sample) => {
    try {
      return parts.map((part) => toText(part(sample))).join('');
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      return `<error expanding template: ${error.message}>`;
    }
  };
}

/** @throws TemplateError, also for a form that `printf` does not have */
export function checkTemplate(text: string): void {
  for (const part of compile(text)) {
    try {
      part({ labels: {}, value: 1.5 });
    } catch (error) {
      // Other errors may be of the values.
      if (error instanceof UnsupportedForm) throw error;
    }
  }
}

/** The parts throw TemplateError. */
function compile(text: string): Term[] {
  const parts: Term[] = [];
  let at = 0;
  let trimNext = false;
  const addText = (piece: string, trimEnd: boolean) => {
    const begun = trimNext ? piece.trimStart() : piece;
    const shown = trimEnd ? begun.trimEnd() : begun;
    parts.push(() => shown);
  };
  for (let open = text.indexOf('{{'); open >= 0; open = text.indexOf('{{', at)) {
    action.lastIndex = open;
    const [whole, inner = ''] = action.exec(text) ?? [];
    if (whole === undefined) throw new TemplateError('{{ is not closed by }}');
    addText(text.slice(at, open), /^\{\{-\s/.test(whole));
    if (!inner.trim().startsWith('/*')) parts.push(compilePipeline(inner));
    trimNext = /\s-\}\}$/.test(whole);
    at = open + whole.length;
  }
  addText(text.slice(at), false);
  return parts;
}

interface Token {
  readonly kind: 'name' | 'text' | 'number' | 'mark';
  readonly text: string;
}

function tokenize(source: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (source.slice(at).trim() !== '') {
    token.lastIndex = at;
    const match = token.exec(source);
    if (match === null) throw new TemplateError(`cannot read ${quote(source.slice(at).trim())}`);
    const [, base = '', path, name, text, number, mark] = match;
    if (path !== undefined) tokens.push({ kind: 'name', text: base + path });
    else if (name !== undefined) tokens.push({ kind: 'name', text: name });
    else if (text !== undefined) tokens.push({ kind: 'text', text: unquote(text) });
    else if (number !== undefined) tokens.push({ kind: 'number', text: number });
    else tokens.push({ kind: 'mark', text: mark! });
    at = token.lastIndex;
  }
  return tokens;
}

function compilePipeline(source: string): Term {
  const tokens = tokenize(source);
  let at = 0;
  const isMark = (text: string) => tokens[at]?.kind === 'mark' && tokens[at]!.text === text;

  function pipeline(): Term {
    let value = command(undefined);
    while (isMark('|')) {
      at += 1;
      value = command(value);
    }
    return value;
  }

  /** @param piped becomes the last argument. */
  function command(piped: Term | undefined): Term {
    const first = tokens[at];
    if (first === undefined) throw new TemplateError('an expression is missing in {{ }}');
    const isFunction = first.kind === 'name' && Object.hasOwn(functions, first.text);
    const call = isFunction ? functions[first.text] : undefined;
    if (call === undefined) {
      const value = operand();
      if (piped !== undefined) throw new TemplateError(`${quote(first.text)} is no function`);
      if (at < tokens.length && !isMark('|') && !isMark(')')) {
        throw new TemplateError(`unexpected ${quote(tokens[at]!.text)}`);
      }
      return value;
    }
    at += 1;
    const values: Term[] = [];
    while (at < tokens.length && !isMark('|') && !isMark(')')) values.push(operand());
    if (piped !== undefined) values.push(piped);
    const isVariadic = first.text === 'printf';
    if (values.length < call.length || (values.length > call.length && !isVariadic)) {
      throw new TemplateError(`${first.text} needs ${call.length} arguments, not ${values.length}`);
    }
    return (sample) => call(...values.map((value) => value(sample)));
  }

  function operand(): Term {
    const { kind, text } = tokens[at]!;
    at += 1;
    if (kind === 'text') return () => text;
    if (kind === 'number') {
      const number = toConstant(text);
      return () => number;
    }
    if (kind === 'name') return variable(text);
    if (text !== '(') throw new TemplateError(`unexpected ${quote(text)}`);
    const inner = pipeline();
    if (!isMark(')')) throw new TemplateError('( is not closed by )');
    at += 1;
    return inner;
  }

  const compiled = pipeline();
  if (at < tokens.length) throw new TemplateError(`unexpected ${quote(tokens[at]!.text)}`);
  return compiled;
}

/** As Go reads constants: a leading 0 means octal digits in integers only. @throws TemplateError */
function toConstant(text: string): number | bigint {
  const [, sign, digits = ''] = /^([+-]?)(.*)$/.exec(text) ?? [];
  const isFloat = !/^0[xX]/.test(digits) && /[.eE]/.test(digits);
  try {
    if (isFloat && Number.isFinite(Number(text))) return Number(text);
    const magnitude = BigInt(digits.replace(/^0(?=\d)/, '0o'));
    return sign === '-' ? -magnitude : magnitude;
  } catch (cause) {
    throw new TemplateError(`cannot read the number ${text}`, { cause });
  }
}

function variable(name: string): Term {
  if (name === '$value' || name === '.Value') return ({ value }) => value;
  if (name === '$labels' || name === '.Labels') return ({ labels }) => labels;
  if (/^\$?\.?externalLabels|^\.ExternalLabels|^\$?\.?externalURL|^\.ExternalURL/.test(name)) {
    return () => '';
  }
  const [, label] = /^(?:\$labels|\.Labels)\.(\w+)$/.exec(name) ?? [];
  if (label !== undefined) return ({ labels }) => labels[label] ?? '';
  const known = Object.keys(functions).join(', ');
  throw new TemplateError(
    `cannot use ${quote(name)}: known are $value, $labels.<name>, and the functions ${known}`,
  );
}

const functions: Readonly<Record<string, TemplateFunction>> = {
  humanize: (value) => humanize(toNumber(value)),
  humanize1024: (value) => humanize1024(toNumber(value)),
  humanizeDuration: (value) => humanizeDuration(toNumber(value)),
  humanizePercentage: (value) => humanizePercentage(toNumber(value)),
  humanizeTimestamp: (value) => toDate(toNumber(value)),
  index: (map, key) => (typeof map === 'object' ? (map[toText(key)] ?? '') : ''),
  printf: (form, ...values) => sprintf(toText(form), values.map(toScalar)),
  stripPort: (value) => toText(value).replace(/^(?:\[([^[\]]*)\]|([^:[\]]*)):[^:]*$/, '$1$2'),
  title: (value) =>
    Array.from(words.segment(toText(value)), ({ segment }) =>
      segment.replace(/\p{L}/u, (first) => first.toUpperCase()),
    ).join(''),
  toLower: (value) => toText(value).toLowerCase(),
  toUpper: (value) => toText(value).toUpperCase(),
};

/** Of the Unicode standard, so that `foo_bar` and `a.b` are one. */
const words = new Intl.Segmenter('en', { granularity: 'word' });

/** @throws TemplateError outside of the years 1677 to 2262, those of Go's nanoseconds */
function toDate(seconds: number): string {
  if (!Number.isFinite(seconds)) return formatGo(seconds);
  if (Math.abs(seconds) * 1e9 >= 2 ** 63) {
    throw new TemplateError(`cannot show ${formatGo(seconds)} as a time`);
  }
  return new Date(seconds * 1000)
    .toISOString()
    .replace('T', ' ')
    .replace(/\.?0*Z$/, ' +0000 UTC');
}

/** @throws TemplateError */
function toNumber(value: TemplateValue | undefined): number {
  if (typeof value === 'number' || typeof value === 'bigint') return Number(value);
  const number = typeof value === 'string' ? parseGoNumber(value) : undefined;
  if (number !== undefined) return number;
  throw new TemplateError(`cannot read ${quote(toText(value ?? ''))} as a number`);
}

function toScalar(value: TemplateValue): Scalar {
  return typeof value === 'object' ? toText(value) : value;
}

function toText(value: TemplateValue): string {
  if (typeof value === 'number') return formatGo(value);
  if (typeof value !== 'object') return String(value);
  const pairs = Object.entries(value).map(([name, text]) => `${name}:${text}`);
  return `map[${pairs.sort().join(' ')}]`;
}

function unquote(text: string): string {
  if (text.startsWith('`')) return text.slice(1, -1);
  try {
    return JSON.parse(text) as string;
  } catch (cause) {
    throw new TemplateError(`cannot read the text ${text}`, { cause });
  }
}

function quote(text: string): string {
  return JSON.stringify(text);
}
