/** Runs test scripts against the evaluator and compares the answers. */
import assert from 'node:assert/strict';
import { typeOf } from '../../src/promql/parser/check.ts';
import { QueryError } from '../../src/promql/errors.ts';
import type { Histogram } from '../../src/promql/histogram/histogram.ts';
import { labelsKey, labelsText } from '../../src/promql/labels.ts';
import { parseQuery } from '../../src/promql/parser/parser.ts';
import {
  type QueryAnswer,
  type QueryResult,
  type ResultSeries,
  runQuery,
} from '../../src/promql/query.ts';
import type { Expr } from '../../src/promql/parser/ast.ts';
import { loadCustomBuckets, MemorySource } from './memory-source.ts';
import { withFixedTimes } from './fixed-times.ts';
import { type Eval, type Expectation, parseScript } from './script.ts';
import type { ScriptSeries, ScriptValue } from './series-text.ts';

export interface Case {
  readonly name: string;
  /** @throws AssertionError */
  readonly run: () => Promise<void>;
}

/** The cases of a script, to be run in order: they share what was loaded. */
export function casesOf(script: string): Case[] {
  const source = new MemorySource();
  const pending: (() => void)[] = [];
  const cases: Case[] = [];
  for (const command of parseScript(script)) {
    if (command.kind === 'clear') pending.push(() => source.clear());
    else if (command.kind === 'load') {
      pending.push(() => {
        for (const series of command.series) source.load(series, command.stepMs);
        if (command.withCustomBuckets) loadCustomBuckets(source, command.series, command.stepMs);
      });
    } else {
      const before = pending.splice(0);
      const run = async () => {
        for (const load of before) load();
        await check(command, source);
      };
      cases.push({ name: `line ${command.line}: ${command.query}`, run });
    }
  }
  return cases;
}

interface Times {
  readonly startMs: number;
  readonly endMs: number;
  readonly stepMs: number;
}

function evaluate(source: MemorySource, text: string, expr: Expr, times: Times) {
  return runQuery({ text, expr, times }, source, {
    lookbackMs: 300_000,
    subqueryStepMs: 60_000,
    maxSamples: 10_000_000,
    countsLooks: true,
    delayedNameRemoval: true,
    deadline: Infinity,
  });
}

async function check(command: Eval, source: MemorySource): Promise<void> {
  const { query, expectations, startMs, endMs, stepMs } = command;
  const failure = expectations.find(({ type }) => type === 'fail');
  let answer: QueryAnswer;
  let expr: Expr;
  try {
    expr = parseQuery(query);
    answer = await evaluate(source, query, expr, { startMs, endMs, stepMs });
  } catch (error) {
    if (!(error instanceof QueryError) || failure === undefined) throw error;
    assert.ok(meets(failure, error.message), `failed with ${error.message}`);
    return;
  }
  assert.equal(failure, undefined, `${query} did not fail`);
  checkNotes(expectations, 'warn', answer.warnings);
  checkNotes(expectations, 'info', answer.infos);
  if (command.isRange) {
    checkMatrix(command, seriesOf(answer.result), { startMs, stepMs });
    return;
  }
  checkInstant(command, answer.result);
  const fixed = withFixedTimes(expr, startMs);
  if (fixed !== undefined) {
    const others = startMs === 0 ? [-1000, 1000] : [-10 * startMs, 0, startMs / 5, 10 * startMs];
    for (const at of others) {
      const times = { startMs: Math.floor(at), endMs: Math.floor(at), stepMs: 0 };
      checkInstant(command, (await evaluate(source, query, fixed, times)).result);
    }
  }
  await checkAsRange(command, source, expr);
}

/** The middle step of a range query has the same values as the instant query. */
async function checkAsRange(command: Eval, source: MemorySource, expr: Expr): Promise<void> {
  const { query, startMs, expectations, rangeTimes, text, scalar } = command;
  const type = typeOf(expr);
  const isOther = rangeTimes !== undefined || text !== undefined;
  if (type === 'matrix' || type === 'string' || isOther) return;
  if (/(?:start|end|range|step)\(\)/.test(query)) return;
  if (expectations.some((one) => one.type === 'ordered')) return;
  const times = { startMs: startMs - 60_000, endMs: startMs + 60_000, stepMs: 60_000 };
  const { result } = await evaluate(source, query, expr, times);
  const middle = seriesOf(result).flatMap(({ labels, points }) => {
    const point = points.find(({ timeMs }) => timeMs === startMs);
    return point === undefined ? [] : [{ labels, points: [point] }];
  });
  if (scalar !== undefined) checkValue(scalar, middle[0]?.points[0]?.value, false, query);
  else checkVector(command, middle, false);
}

function seriesOf(result: QueryResult): readonly ResultSeries[] {
  return result.type === 'vector' || result.type === 'matrix' ? result.series : [];
}

function checkInstant(command: Eval, result: QueryResult): void {
  const { query, text, scalar, rangeTimes, expectations } = command;
  const isOrdered = expectations.some(({ type }) => type === 'ordered');
  if (result.type === 'string') assert.equal(result.value, text);
  else if (result.type === 'scalar') {
    assert.notEqual(scalar, undefined, `${query} is a scalar`);
    checkValue(scalar, result.point.value, false, query);
  } else if (result.type === 'matrix') checkMatrix(command, result.series, rangeTimes!);
  else checkVector(command, result.series, isOrdered);
}

type Vector = readonly Pick<ResultSeries, 'labels' | 'points'>[];

function checkVector(command: Eval, series: Vector, isOrdered: boolean): void {
  const expected = command.series.map((one) => [labelsKey(one.labels), one] as const);
  const byKey = new Map(expected);
  const keys = series.map(({ labels }) => labelsKey(labels));
  const shown = series.map(({ labels }) => labelsText(labels)).join(' ');
  if (isOrdered) assert.deepEqual(keys, [...byKey.keys()], shown);
  else assert.deepEqual([...keys].sort(), [...byKey.keys()].sort(), shown);
  for (const { labels, points } of series) {
    const one = byKey.get(labelsKey(labels))!;
    checkValue(one.values[0], points[0]?.value, one.hinted[0]!, labelsText(labels));
  }
}

function checkMatrix(
  { series: expected, scalar }: { series: readonly ScriptSeries[]; scalar: number | undefined },
  series: readonly ResultSeries[],
  { startMs, stepMs }: { startMs: number; stepMs: number },
): void {
  void scalar;
  const byKey = new Map(expected.map((one) => [labelsKey(one.labels), one]));
  const keys = series.map(({ labels }) => labelsKey(labels));
  const shown = series.map(({ labels }) => labelsText(labels)).join(' ');
  assert.deepEqual([...keys].sort(), [...byKey.keys()].sort(), shown);
  for (const { labels, points } of series) {
    const { values, hinted } = byKey.get(labelsKey(labels))!;
    const wanted = values.flatMap((value, i) =>
      value === undefined ? [] : [{ timeMs: startMs + i * stepMs, value, hinted: hinted[i]! }],
    );
    const times = points.map(({ timeMs }) => timeMs);
    assert.deepEqual(
      times,
      wanted.map(({ timeMs }) => timeMs),
      labelsText(labels),
    );
    for (const [i, { value }] of points.entries()) {
      checkValue(
        wanted[i]!.value,
        value,
        wanted[i]!.hinted,
        `${labelsText(labels)} at ${times[i]!}`,
      );
    }
  }
}

function checkValue(
  expected: ScriptValue,
  actual: number | Histogram | undefined,
  isHinted: boolean,
  where: string,
): void {
  const shown = `${where}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`;
  if (typeof expected === 'number' && typeof actual === 'number') {
    assert.ok(nearlyEqual(expected, actual), `${where}: expected ${expected}, got ${actual}`);
    return;
  }
  assert.ok(typeof expected === 'object' && typeof actual === 'object', shown);
  const numbers = (histogram: Histogram) => [
    histogram.count,
    histogram.sum,
    histogram.zeroCount,
    ...histogram.positive.counts,
    ...histogram.negative.counts,
  ];
  const layout = ({ schema, zeroThreshold, bounds, positive, negative }: Histogram) => [
    schema,
    zeroThreshold,
    ...bounds,
    ...positive.indexes,
    'negative',
    ...negative.indexes,
  ];
  assert.deepEqual(layout(actual), layout(expected), shown);
  const wanted = numbers(expected);
  assert.ok(
    numbers(actual).every((value, i) => nearlyEqual(value, wanted[i]!)),
    shown,
  );
  if (isHinted) assert.equal(actual.hint, expected.hint, shown);
}

const epsilon = 1e-6;

function nearlyEqual(left: number, right: number): boolean {
  if (left === right || (Number.isNaN(left) && Number.isNaN(right))) return true;
  const sum = Math.abs(left) + Math.abs(right);
  const smallest = 2 ** -1022;
  const difference = Math.abs(left - right);
  if (left === 0 || right === 0 || sum < smallest) return difference < epsilon * smallest;
  return difference / Math.min(sum, Number.MAX_VALUE) < epsilon;
}

function meets({ message, pattern }: Expectation, text: string): boolean {
  if (message !== undefined) return text === message;
  return pattern === undefined || pattern.test(text);
}

function checkNotes(
  expectations: readonly Expectation[],
  type: 'warn' | 'info',
  notes: readonly string[],
): void {
  if (expectations.some((one) => one.type === `no_${type}`)) assert.deepEqual(notes, []);
  const wanted = expectations.filter((one) => one.type === type);
  if (wanted.length === 0) return;
  for (const one of wanted) {
    assert.ok(
      notes.some((note) => meets(one, note)),
      `no ${type} like ${one.message ?? String(one.pattern)} among ${JSON.stringify(notes)}`,
    );
  }
  for (const note of notes) {
    assert.ok(
      wanted.some((one) => meets(one, note)),
      `unexpected ${type}: ${note}`,
    );
  }
}
