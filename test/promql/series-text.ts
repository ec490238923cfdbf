/** Series as test scripts write them: `up{job="a"} 0+1x3 _ stale {{schema:0 count:2}}`. */
import { parseQuery } from '../../src/promql/parser/parser.ts';
import { add, subtract } from '../../src/promql/histogram/histogram-sum.ts';
import { type Histogram, noBuckets, toBuckets } from '../../src/promql/histogram/histogram.ts';
import { type Labels, toLabels } from '../../src/promql/labels.ts';

/** Undefined = no sample. */
export type ScriptValue = number | Histogram | 'stale' | undefined;

export interface ScriptSeries {
  readonly labels: Labels;
  readonly values: readonly ScriptValue[];
  /** Whether the text of the histogram at an index has a hint. */
  readonly hinted: readonly boolean[];
}

export function parseSeries(line: string): ScriptSeries {
  const end = labelsEnd(line);
  const values: ScriptValue[] = [];
  const hinted: boolean[] = [];
  for (const item of line
    .slice(end)
    .match(/\{\{.*?\}\}\S*?(?:\{\{.*?\}\})?(?:x\d+)?(?=\s|$)|\S+/g) ?? []) {
    for (const value of expand(item)) {
      values.push(value);
      hinted.push(item.includes('counter_reset_hint'));
    }
  }
  return { labels: parseLabels(line.slice(0, end).trim()), values, hinted };
}

function labelsEnd(line: string): number {
  let quote = '';
  let depth = 0;
  for (let i = 0; i < line.length; i++) {
    const letter = line[i]!;
    if (quote !== '') {
      if (letter === '\\' && quote !== '`') i += 1;
      else if (letter === quote) quote = '';
    } else if ('"\'`'.includes(letter)) quote = letter;
    else if (letter === '{') depth += 1;
    else if (letter === '}') {
      depth -= 1;
      if (depth === 0) return i + 1;
    } else if (depth === 0 && /\s/.test(letter)) {
      // The braces may follow the name after a blank, unless they are a histogram.
      const rest = line.slice(i).trimStart();
      if (!rest.startsWith('{') || rest.startsWith('{{')) return i;
    }
  }
  return line.length;
}

export function parseLabels(text: string): Labels {
  if (text === '{}') return [];
  const expr = parseQuery(text);
  if (expr.kind !== 'selector') throw new Error(`cannot read the labels ${text}`);
  return toLabels(expr.matchers.map(({ name, value }) => [name, value]));
}

const digits = String.raw`(?:\d+\.?\d*(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?|inf|nan)`;
const sequence = new RegExp(`^([+-]?${digits})(?:([+-])(${digits}))?(?:x(\\d+))?$`, 'i');
const hexadecimal = /^[+-]?0x[0-9a-f]+$/i;

function expand(item: string): ScriptValue[] {
  const gap = /^_(?:x(\d+))?$/.exec(item);
  if (gap !== null) return Array.from({ length: Number(gap[1] ?? 1) });
  if (item.startsWith('{{')) return expandHistograms(item);
  if (item === 'stale') return ['stale'];
  const found = sequence.exec(item);
  if (found === null && hexadecimal.test(item)) return [Number(item)];
  if (found === null) throw new Error(`cannot read the value ${item}`);
  const [, first, sign, delta, times] = found;
  const step = delta === undefined ? 0 : parseValue(delta) * (sign === '-' ? -1 : 1);
  const count = times === undefined ? 0 : Number(times);
  const values: number[] = [parseValue(first!)];
  for (let i = 1; i <= count; i++) values.push(values.at(-1)! + step);
  return values;
}

export function parseValue(text: string): number {
  const lower = text.toLowerCase();
  const infinite = /^([+-]?)inf$/.exec(lower);
  if (infinite !== null) return infinite[1] === '-' ? -Infinity : Infinity;
  return lower.includes('nan') ? Number.NaN : Number(text);
}

function expandHistograms(item: string): ScriptValue[] {
  const found = /^\{\{(.*?)\}\}(?:([+-])\{\{(.*?)\}\})?(?:x(\d+))?$/.exec(item);
  if (found === null) throw new Error(`cannot read the histogram ${item}`);
  const [, first, sign, delta, times] = found;
  const start = parseHistogram(first!);
  const values = [start];
  const combine = sign === '-' ? subtract : add;
  for (let i = 1; i <= Number(times ?? 0); i++) {
    const before = values.at(-1)!;
    values.push(delta === undefined ? start : combine(before, parseHistogram(delta)).histogram);
  }
  return values;
}

function parseHistogram(text: string): Histogram {
  const fields = new Map<string, string>();
  for (const [, name, list, plain] of text.matchAll(/(\w+):(?:\[([^\]]*)\]|(\S+))/g)) {
    fields.set(name!, list ?? plain!);
  }
  const numberOf = (name: string) => parseValue(fields.get(name) ?? '0');
  const numbersOf = (name: string) =>
    (fields.get(name) ?? '').split(/\s+/).filter(Boolean).map(parseValue);
  const bucketsOf = (name: string, offset: string) => {
    const counts = numbersOf(name);
    const first = numberOf(offset);
    if (counts.length === 0) return noBuckets;
    return toBuckets(counts.map((count, i) => [first + i, count] as const));
  };
  return {
    hint: (fields.get('counter_reset_hint') ?? 'unknown') as Histogram['hint'],
    schema: numberOf('schema'),
    count: numberOf('count'),
    sum: numberOf('sum'),
    zeroCount: numberOf('z_bucket'),
    zeroThreshold: numberOf('z_bucket_w'),
    bounds: numbersOf('custom_values'),
    positive: bucketsOf('buckets', 'offset'),
    negative: bucketsOf('n_buckets', 'n_offset'),
  };
}
