/** A query ends when it exceeds its limits or its client leaves, and lets others run meanwhile. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { encodeQueryResponse } from '../../src/metrics/query-response.ts';
import { QueryError } from '../../src/promql/errors.ts';
import { Evaluation, type QueryOptions } from '../../src/promql/evaluation.ts';
import { parseQuery } from '../../src/promql/parser/parser.ts';
import { runQuery } from '../../src/promql/query.ts';
import type { SampleSource } from '../../src/promql/source.ts';
import { MemorySource } from './memory-source.ts';
import { parseSeries } from './series-text.ts';

const source = new MemorySource();
source.load(parseSeries('level 1x5000'), 1000);
const times = { startMs: 0, endMs: 5_000_000, stepMs: 1000 };
const slow = 'quantile_over_time(0.5, level[1h])';

function run(text: string, options: Partial<QueryOptions>, at = times) {
  return runQuery({ text, expr: parseQuery(text), times: at }, source, {
    lookbackMs: 300_000,
    subqueryStepMs: 60_000,
    maxSamples: 1_000_000,
    countsLooks: true,
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

  /** Turns of the event loop during a query. */
  async function turnsDuring(query: Promise<unknown>): Promise<number> {
    let turns = 0;
    const count = () => {
      turns += 1;
      next = setImmediate(count);
    };
    let next = setImmediate(count);
    await query;
    clearImmediate(next);
    return turns;
  }

  const once = { startMs: 8_640_000_000, endMs: 8_640_000_000, stepMs: 0 };
  const maxSamples = 30_000_000;

  test('lets others run while an operator computes the many steps of a subquery', async () => {
    const turns = await turnsDuring(run('max_over_time(minute()[30d:1s])', { maxSamples }, once));
    assert.ok(turns >= 8, `${turns} turns`);
  });

  test('lets others run while values are counted', async () => {
    const steps = { startMs: 0, endMs: 5_000_000, stepMs: 10 };
    const turns = await turnsDuring(run('count_values("value", vector(1))', { maxSamples }, steps));
    assert.ok(turns >= 10, `${turns} turns`);
    await assert.rejects(
      run('count_values("value", vector(time()))', { maxSamples }, steps),
      failsWith('execution', /too many samples/),
    );
  });

  test('lets others run while native histograms of many buckets are computed', async () => {
    const buckets = Array.from({ length: 300 }, (_, i) => i + 1).join(' ');
    const wide = `{{schema:3 count:45150 sum:1 buckets:[${buckets}]}}`;
    source.load(parseSeries(`wide ${wide}x600`), 1000);
    for (let i = 0; i < 4000; i++) source.load(parseSeries(`many{i="${i}"} ${wide}`), 1000);
    const queries = [
      ['sum(many)', { startMs: 0, endMs: 0, stepMs: 0 }],
      ['sum_over_time(wide[10s])', { startMs: 0, endMs: 600_000, stepMs: 1000 }],
      ['histogram_quantile(0.5, wide)', { startMs: 0, endMs: 600_000, stepMs: 250 }],
    ] as const;
    for (const [text, at] of queries) {
      // Of the processor: a busy machine gives it fewer milliseconds in each turn.
      const before = process.cpuUsage();
      const turns = await turnsDuring(run(text, { maxSamples }, at));
      const { user, system } = process.cpuUsage(before);
      const ms = (user + system) / 1000;
      assert.ok(turns >= Math.floor(ms / 35), `${turns} turns in ${ms} ms of ${text}`);
    }
  });

  test('lets others run while the native histograms of one long range are added', async () => {
    const buckets = Array.from({ length: 160 }, (_, i) => i + 1).join(' ');
    const day = `day {{schema:3 count:12880 sum:1 buckets:[${buckets}]}}x20000`;
    source.load(parseSeries(day), 1000);
    for (const text of ['sum_over_time(day[1d])', 'avg_over_time(day[1d])']) {
      const at = { startMs: 20_000_000, endMs: 20_000_000, stepMs: 0 };
      const turns = await turnsDuring(run(text, { maxSamples }, at));
      assert.ok(turns >= 4, `${turns} turns of ${text}`);
    }
  });

  test('lets others run while a series of many points is written', async () => {
    const answer = await run('vector(time())[10d:1s]', { maxSamples }, once);
    let text = '';
    const turns = await turnsDuring(
      Promise.resolve(encodeQueryResponse(answer, once, { limit: 0, stats: '', seconds: 1 })).then(
        (bytes) => {
          text = Buffer.from(bytes).toString();
        },
      ),
    );
    assert.ok(turns >= 4, `${turns} turns`);
    const { data } = JSON.parse(text) as { data: { result: { values: [number, string][] }[] } };
    const values = data.result[0]!.values;
    assert.equal(values.length, 864_000);
    assert.deepEqual(values[0], [7_776_001, '7776001']);
    assert.deepEqual(values.at(-1), [8_640_000, '8640000']);
    // Beyond the first piece.
    assert.deepEqual(values[700_000], [8_476_001, '8476001']);
  });

  test('computes a subquery in a subquery in slices, from all samples', async (t) => {
    const charge = t.mock.method(Evaluation.prototype, 'charge');
    const reads: number[] = [];
    const counting: SampleSource = {
      select(matchers, range) {
        reads.push(range.fromMs);
        return source.select(matchers, range);
      },
    };
    const text = 'sum_over_time((sum_over_time(level[5s:1s]) + 0)[1000000s:1s] @ 1000000)';
    const { result } = await runQuery({ text, expr: parseQuery(text), times: once }, counting, {
      lookbackMs: 1000,
      subqueryStepMs: 60_000,
      delayedNameRemoval: false,
      maxSamples,
      deadline: Infinity,
    });
    assert.ok(result.type === 'vector');
    // Each of 5,001 samples is in five windows, the one at time 0 in four.
    assert.deepEqual(
      result.series.map(({ points }) => points[0]!.value),
      [5 * 5001 - 1],
    );
    assert.equal(reads.length, 1);
    await run(
      'max_over_time((minute() + max_over_time(hour()[5m:1s]))[10d:1s])',
      { maxSamples },
      once,
    );
    const largest = Math.max(...charge.mock.calls.map((call) => call.arguments[0]));
    assert.ok(largest <= 250_000, `${largest} cells of an operator at once`);
  });

  test('a subquery of many steps looks at each of them once', async () => {
    const reads: number[] = [];
    const counting: SampleSource = {
      select(matchers, range) {
        reads.push(range.untilMs - range.fromMs);
        return source.select(matchers, range);
      },
    };
    const text = 'sum_over_time((level * 2 or vector(1) unless on() level)[1000000s:1s] @ 1000000)';
    const expr = parseQuery(text);
    const options = { lookbackMs: 1000, subqueryStepMs: 60_000, delayedNameRemoval: false };
    const { result } = await runQuery({ text, expr, times: once }, counting, {
      ...options,
      maxSamples,
      deadline: Infinity,
    });
    assert.ok(result.type === 'vector');
    // 5,001 samples of level less the one at time 0, which the range excludes.
    const sums = result.series.map(({ points }) => points[0]!.value);
    assert.deepEqual(sums, [2 * 5000 + 1_000_000 - 5000]);
    assert.deepEqual(reads, [1_000_000_000 - 1]);
  });
});
