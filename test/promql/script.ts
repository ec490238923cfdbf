/**
 * Test scripts of PromQL: `load`, `clear` and `eval` commands.
 * https://github.com/prometheus/prometheus/tree/main/promql/promqltest
 */
import { parseDuration } from '../../src/promql/parser/numbers.ts';
import { parseSeries, parseValue, type ScriptSeries } from './series-text.ts';

export type Command = { readonly kind: 'clear' } | Load | Eval;

export interface Load {
  readonly kind: 'load';
  readonly stepMs: number;
  readonly withCustomBuckets: boolean;
  readonly series: readonly ScriptSeries[];
}

export interface Expectation {
  readonly type: 'fail' | 'warn' | 'no_warn' | 'info' | 'no_info' | 'ordered';
  readonly message: string | undefined;
  readonly pattern: RegExp | undefined;
}

export interface Eval {
  readonly kind: 'eval';
  /** From 1. */
  readonly line: number;
  readonly query: string;
  readonly isRange: boolean;
  readonly startMs: number;
  readonly endMs: number;
  readonly stepMs: number;
  readonly expectations: readonly Expectation[];
  readonly series: readonly ScriptSeries[];
  readonly scalar: number | undefined;
  readonly text: string | undefined;
  /** Of an instant query for a range vector: its times. */
  readonly rangeTimes: { startMs: number; stepMs: number } | undefined;
}

export function parseScript(text: string): Command[] {
  const lines = text.split('\n').map((line) => {
    const trimmed = line.trim();
    return trimmed.startsWith('#') ? '' : trimmed;
  });
  const commands: Command[] = [];
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i]!;
    if (line === '') continue;
    let end = i + 1;
    while (end < lines.length && lines[end] !== '') end += 1;
    const body = lines.slice(i + 1, end);
    if (line === 'clear') commands.push({ kind: 'clear' });
    else if (line.startsWith('load')) commands.push(parseLoad(line, body));
    else if (line.startsWith('eval')) {
      // Commands may follow each other without a blank line.
      const next = body.findIndex((one) => /^(?:eval|load|clear)\b/.test(one));
      const own = next === -1 ? body : body.slice(0, next);
      commands.push(parseEval(line, own, i + 1));
      i += own.length;
      continue;
    } else throw new Error(`line ${i + 1}: cannot read the command ${line}`);
    if (line !== 'clear') i = end - 1;
  }
  return commands;
}

function parseLoad(line: string, body: readonly string[]): Load {
  const found = /^load(_with_nhcb)?\s+(\S+)$/.exec(line);
  if (found === null) throw new Error(`cannot read ${line}`);
  // Start times of samples are not stored.
  const series = body.filter((one) => !/^\S+@st\s/.test(one)).map(parseSeries);
  return {
    kind: 'load',
    stepMs: toMs(found[2]!),
    withCustomBuckets: found[1] !== undefined,
    series,
  };
}

function toMs(duration: string): number {
  const isNegative = duration.startsWith('-');
  const seconds = duration === '0' ? 0 : parseDuration(duration.replace(/^-/, ''));
  if (seconds === undefined) throw new Error(`cannot read the duration ${duration}`);
  return Math.round(seconds * 1000) * (isNegative ? -1 : 1);
}

const instantForm = /^eval(?:_(\w+))?\s+instant(?:\s+at\s+(\S+))?\s+(.+)$/;
const rangeForm = /^eval(?:_(\w+))?\s+range\s+from\s+(\S+)\s+to\s+(\S+)\s+step\s+(\S+)\s+(.+)$/;
const rangeVectorForm = /^expect range vector from (\S+) to (\S+) step (\S+)$/;

function parseEval(line: string, body: readonly string[], number: number): Eval {
  const instant = instantForm.exec(line);
  const range = rangeForm.exec(line);
  const mode = (instant ?? range)?.[1];
  const expectations: Expectation[] = [];
  if (mode !== undefined) expectations.push(expectation(mode));
  const series: ScriptSeries[] = [];
  let scalar: number | undefined;
  let text: string | undefined;
  let rangeTimes: Eval['rangeTimes'];
  for (const one of body) {
    const times = rangeVectorForm.exec(one);
    const string = /^expect string\s+(.*)$/.exec(one);
    const expected = /^expect (\w+)(?:\s+(msg|regex):\s*(.*))?$/.exec(one);
    if (times !== null) rangeTimes = { startMs: toMs(times[1]!), stepMs: toMs(times[3]!) };
    else if (string !== null) text = unquote(string[1]!);
    else if (expected !== null) {
      expectations.push(expectation(expected[1]!, expected[2], expected[3]));
    } else if (one.startsWith('expected_fail_')) {
      const [, kind, value] = /^expected_fail_(message|regexp)\s+(.*)$/.exec(one)!;
      expectations.push(expectation('fail', kind === 'message' ? 'msg' : 'regex', value));
    } else if (/^[+-]?(?:[\d.]+(?:e[+-]?\d+)?|inf|nan)$/i.test(one)) scalar = parseValue(one);
    else series.push(parseSeries(one));
  }
  const shared = {
    kind: 'eval',
    line: number,
    expectations,
    series,
    scalar,
    text,
    rangeTimes,
  } as const;
  if (instant !== null) {
    const at = toMs(instant[2] ?? '0');
    const times = { isRange: false, startMs: at, endMs: at, stepMs: 0 };
    return { ...shared, ...times, query: instant[3]! };
  }
  if (range === null) throw new Error(`line ${number}: cannot read ${line}`);
  const [, , from, to, step, query] = range;
  const times = { startMs: toMs(from!), endMs: toMs(to!), stepMs: toMs(step!) };
  return { ...shared, isRange: true, ...times, query: query! };
}

function expectation(type: string, matching?: string, value?: string): Expectation {
  return {
    type: type as Expectation['type'],
    message: matching === 'msg' ? value!.trim() : undefined,
    pattern: matching === 'regex' ? new RegExp(value!.trim()) : undefined,
  };
}

function unquote(text: string): string {
  return text.startsWith('"') ? (JSON.parse(text) as string) : text.slice(1, -1);
}
