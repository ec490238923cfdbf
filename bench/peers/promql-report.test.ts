/** The section of RESULTS.md about PromQL, and the comparison of answers. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { parseQuery } from '../../src/promql/parser/parser.ts';
import { createMetricCorpus } from '../metric-corpus.ts';
import { differenceOf } from './measure-promql.ts';
import { listPromqlQuestions } from './promql-questions.ts';
import { promqlMarkdown } from './promql-report.ts';

test('asks twenty questions that parse, with other times or values each round', () => {
  const startMs = 1_700_000_000_000;
  const { series } = createMetricCorpus({
    seed: 1,
    series: 500,
    samplesPerRequest: 500,
    startMs,
    intervalMs: 15_000,
  });
  const questions = listPromqlQuestions({ series, startMs, endMs: startMs + 3_600_000 });
  assert.equal(questions.length, 20);
  for (const { of } of questions) {
    assert.notDeepEqual(of(0), of(1));
    assert.doesNotThrow(() => parseQuery(of(0).query), of(0).query);
  }
});

test('shows losses as losses, and answers that differ', () => {
  const figures = (p50Ms: number, difference: number) => ({
    p50Ms,
    minMs: p50Ms,
    series: 2,
    values: 40,
    difference,
  });
  const system = (name: string) => ({ name, version: '1', flags: 'none' });
  const lines = promqlMarkdown({
    command: 'run',
    machine: 'm',
    when: 'w',
    series: 10,
    rounds: 20,
    warmUpSeconds: 5,
    systems: [system('Weir'), system('One'), system('Two')],
    cpuSeconds: [1, 2, 3],
    questions: [
      {
        question: 'rate',
        query: 'rate(a[5m])',
        systems: [figures(10, 0), figures(20, 0), figures(5, Number.NaN)],
      },
    ],
  }).split('\n');
  for (const line of [
    '- At or ahead of One in 1 of 1 questions.',
    '- At or ahead of Two in 0 of 1 questions.',
    '| rate | 10.0 ms (10.0 ms) | 20.0 ms (20.0 ms) | 5.0 ms (5.0 ms) | 2.00 × better ' +
      '| **2.00 × worse** | 2 / 40 | yes | other series or times |',
  ]) {
    assert.ok(lines.includes(line), lines.join('\n'));
  }
});

suite('difference of answers', () => {
  const points = (...values: readonly (readonly [number, string])[]) => new Map([['a', values]]);
  test('is the largest of all values, relative to them', () => {
    const difference = differenceOf(points([1, '1'], [2, '8']), points([1, '1'], [2, '10']));
    assert.equal(difference, 0.2);
  });
  test('is NaN where times or series differ', () => {
    assert.ok(Number.isNaN(differenceOf(points([1, '1']), points([2, '1']))));
    assert.ok(Number.isNaN(differenceOf(points([1, '1']), new Map())));
  });
});
