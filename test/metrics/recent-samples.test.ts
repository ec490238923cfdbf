/**
 * PromQL over samples in memory sees what was stored, whatever comes between its reads: new series,
 * late, repeated and replaced samples.
 */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { joinService } from '../harness/joined-service.ts';
import { prometheusBaseUrl, readMetrics, remoteWrite } from '../harness/metrics.ts';
import { toNumber, toSample, type WrittenSeries } from '../harness/prompb.ts';
import { createRandom, type Random } from '../harness/random.ts';
import type { Service } from '../harness/service.ts';
import { until } from '../harness/until.ts';

const seed = Number(process.env['RECENT_SEED'] ?? 1);
const windowSeconds = 1800;
const nowSeconds = Math.floor(Date.now() / 1000);
const startMs = (nowSeconds - windowSeconds) * 1000;

/** Values by series and time. */
type Model = Map<string, Map<number, number>>;

suite(`recent samples (seed ${seed})`, () => {
  let service: Service;
  before(async () => {
    service = await joinService();
  });
  after(() => service?.stop());

  /** The window as PromQL sees it: a line for each sample. */
  async function byPromql(matchers: string): Promise<string[]> {
    const { accessToken, accountId } = service.quickstart;
    const headers = { authorization: `Bearer ${accessToken}`, 'x-active-account': accountId };
    const query = `{${matchers}}[${windowSeconds}s]`;
    const parameters = new URLSearchParams({ query, time: String(nowSeconds) }).toString();
    const url = `${prometheusBaseUrl(service)}/api/v1/query?${parameters}`;
    const answer = await service.http.send(url, { headers });
    assert.equal(answer.status, 200, answer.text);
    const { data } = answer.json<{
      data: { result: { metric: { n: string }; values: [number, string][] }[] };
    }>();
    return data.result.flatMap(({ metric, values }) =>
      values.map(([time, value]) => lineOf(metric.n, Math.round(time * 1000), Number(value))),
    );
  }

  /** The same from the store. */
  async function byRemoteRead(metric: string): Promise<string[]> {
    const range = { fromMs: startMs + 1, untilMs: nowSeconds * 1000 };
    const series = await readMetrics(service, { __name__: metric }, range);
    return series.flatMap(({ labels, samples }) =>
      samples.map(({ timeMs, bits }) => lineOf(labels['n']!, Number(timeMs), toNumber(bits))),
    );
  }

  test('are complete after every write', async () => {
    const random = createRandom(seed);
    const model: Model = new Map();
    for (let round = 0; round < 30; round++) {
      const { status, text } = await remoteWrite(service, nextWrite(random, model, round));
      assert.equal(status, 204, text);
      const expected = linesOf(model);
      const stored = async () => isSame(await byRemoteRead('recent'), expected);
      await until(stored, { what: `round ${round} to be stored` });
      const matchers = `__name__="recent"${round % 3 === 0 ? ',n=~"[0-9]"' : ''}`;
      const seen = async () => isSame(await byPromql(matchers), expected);
      await until(seen, { what: `round ${round} to be seen` });
    }
  });
});

/** Mostly a new sample of some of six series, now and then an older or another one. */
function nextWrite(random: Random, model: Model, round: number): WrittenSeries[] {
  const numbers = ['0', '1', '2', '3', '4', '5'].filter((n) => n === '0' || random.next() < 0.5);
  return numbers.map((n) => {
    const known = model.get(n) ?? new Map<number, number>();
    model.set(n, known);
    const times = [...known.keys()].sort((left, right) => left - right);
    const last = times.at(-1) ?? startMs - 20_000;
    const [time, value] = random.pick([
      [last + 15_000, round],
      [last + 15_000, round],
      [last + 15_000, round],
      [Math.max(startMs - 20_000, last - 7_000), round],
      [last, round + 0.5],
      [last, known.get(last) ?? round],
    ] as const);
    known.set(time, value);
    return { labels: { __name__: 'recent', n }, samples: [toSample(time, value)] };
  });
}

function linesOf(model: Model): string[] {
  return [...model].flatMap(([n, values]) =>
    [...values].filter(([time]) => time > startMs).map(([time, value]) => lineOf(n, time, value)),
  );
}

const lineOf = (n: string, timeMs: number, value: number) => `${n} ${timeMs} ${value}`;

function isSame(lines: readonly string[], expected: readonly string[]): true | undefined {
  return JSON.stringify([...lines].sort()) === JSON.stringify([...expected].sort()) || undefined;
}
