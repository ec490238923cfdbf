/** A query ends when it exceeds its limits or its client leaves, and lets others run meanwhile. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { QueryError } from '../../src/promql/errors.ts';
import type { QueryOptions } from '../../src/promql/evaluation.ts';
import { parseQuery } from '../../src/promql/parser/parser.ts';
import { runQuery } from '../../src/promql/query.ts';
import { MemorySource } from './memory-source.ts';
import { parseSeries } from './series-text.ts';

const source = new MemorySource();
source.load(parseSeries('level 1x5000'), 1000);
const times = { startMs: 0, endMs: 5_000_000, stepMs: 1000 };
const slow = 'quantile_over_time(0.5, level[1h])';

function run(text: string, options: Partial<QueryOptions>) {
  return runQuery({ text, expr: parseQuery(text), times }, source, {
    lookbackMs: 300_000,
    subqueryStepMs: 60_000,
    maxSamples: 1_000_000,
    delayedNameRemoval: false,
    deadline: Infinity,
    ...options,
  });
}

const failsWith = (failure: string, message: RegExp) => (error: unknown) =>
  error instanceof QueryError && error.failure === failure && message.test(error.message);

suite('limits of a query', () => {
  test('samples that it reads', async () => {
    await assert.rejects(
      run('level', { maxSamples: 5000 }),
      failsWith('execution', /^query processing would load too many samples into memory/),
    );
  });

  test('samples that it computes', async () => {
    await run('level', { maxSamples: 11_000 });
    await assert.rejects(
      run('level + level', { maxSamples: 11_000 }),
      failsWith('execution', /too many/),
    );
  });

  test('steps of a subquery, before they are computed', async () => {
    await run('count_over_time(vector(1)[1h:1s])', {});
    for (const text of [
      'count_over_time(vector(1)[100y:1ms])',
      'max_over_time(absent(level)[100y:1ms])',
    ]) {
      await assert.rejects(run(text, {}), failsWith('execution', /too many samples/), text);
    }
  });

  test('steps of all series, also those without samples', async () => {
    for (let job = 0; job < 20; job++) source.load(parseSeries(`sparse{job="${job}"} 1`), 1000);
    for (const text of ['sparse', 'max_over_time(sparse[1m:1s])']) {
      await run(text, { maxSamples: 15_000 });
      await assert.rejects(
        run(text, { maxSamples: 10_000 }),
        failsWith('execution', /too many samples/),
        text,
      );
    }
  });

  test('length of label values', async () => {
    let text = 'label_replace(level, "a", "12345678", "", "")';
    for (let i = 0; i < 40; i++) text = `label_join(${text}, "a", "", "a", "a")`;
    await assert.rejects(run(text, {}), failsWith('execution', /a label value of \d+ characters/));
    let long = 'label_replace(level, "a", "12345678", "", "")';
    for (let i = 0; i < 16; i++) long = `label_join(${long}, "a", "", "a", "a")`;
    // Longer than any string of JavaScript.
    const repeated = `label_replace(${long}, "a", "${'$1'.repeat(2000)}", "a", "(.*)")`;
    await assert.rejects(
      run(repeated, {}),
      failsWith('execution', /a label value of \d+ characters/),
    );
  });

  test('time', async () => {
    await assert.rejects(
      run(slow, { deadline: performance.now() }),
      failsWith('timeout', /^query timed out in expression evaluation$/),
    );
  });

  test('ends when the client leaves, while one series is evaluated', async () => {
    const client = new AbortController();
    const left = setImmediate(() => client.abort());
    await assert.rejects(
      run(slow, { signal: client.signal }),
      failsWith('canceled', /^query was canceled/),
    );
    clearImmediate(left);
  });
});
