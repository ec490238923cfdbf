/** Reading figures and deciding whether one got worse by more than noise. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { suite, test } from 'node:test';
import { compareFigures, type Figure, noiseFloor, toFigures, toMarkdown } from './figures.ts';

suite('figures of a run', () => {
  const text = readFileSync(new URL('../RESULTS.md', import.meta.url), 'utf8');
  const figures = toFigures(text);
  const cases: readonly [string, Figure['better'], RegExp][] = [
    ['burst, batches of 1,000: events/s', 'more', /^\d{5,}$/],
    ['burst, batches of 1,000: ack p50', 'less', /^[\d.]+$/],
    ['single events, 64 connections: CPU of gateway', 'less', /^[\d.]+$/],
    ['ceiling: engine alone, same rows: events/s', 'more', /^\d{5,}$/],
    ['peak memory of the engine', 'less', /^\d+$/],
    ['OTLP JSON: CPU', 'less', /^[\d.]+$/],
    ['the mix: bytes per sample', 'less', /^[\d.]+$/],
    ['facet by service: p50', 'less', /^[\d.]+$/],
  ];
  for (const [name, better, form] of cases) {
    test(`include ${name}`, () => {
      const figure = figures.get(name);
      assert.equal(figure?.better, better);
      assert.match(String(figure?.value), form);
    });
  }

  test('leave out a cell with fewer values than its column has names', () => {
    assert.equal(figures.has('ceiling: engine alone, same rows: CPU of gateway'), false);
  });

  test('read every value of a cell in its order', () => {
    const head = '| load | CPU µs per event: gateway + engine + generator |\n| --- | --- |';
    const read = toFigures(`${head}\n| burst | 3.25 + 0.57 + 0.65 |`);
    assert.deepEqual(
      [...read].map(([name, { value }]) => [name, value]),
      [
        ['burst: CPU of gateway', 3.25],
        ['burst: CPU of engine', 0.57],
      ],
    );
  });
});

suite('verdict', () => {
  const rounds = (better: Figure['better'], values: readonly number[]) =>
    values.map((value) => new Map([['figure', { value, better, isTimed: true }]]));
  const judge = (better: Figure['better'], base: readonly number[], current: readonly number[]) => {
    const [one] = compareFigures(rounds(better, base), rounds(better, current));
    assert.ok(one);
    return one;
  };
  const cases = [
    ['less', [100, 100], [119, 119], 'same', 'below the floor'],
    ['less', [100, 100], [121, 121], 'worse', 'above the floor'],
    ['less', [100, 100], [80, 80], 'better', 'less time'],
    ['more', [100, 100], [80, 80], 'worse', 'less throughput'],
    ['more', [100, 100], [130, 130], 'better', 'more throughput'],
    ['less', [100, 130], [150, 160], 'same', 'rounds of the base differ more'],
    ['less', [100, 105], [150, 155], 'worse', 'rounds of each build agree'],
    ['less', [100, 200], [900, 950], 'worse', 'a change beyond all noise'],
    ['less', [90, 110, 95, 105], [140, 150, 130, 145], 'worse', 'more rounds, less noise'],
  ] as const;
  for (const [better, base, current, verdict, why] of cases) {
    test(`${verdict}: ${why}`, () => assert.equal(judge(better, base, current).verdict, verdict));
  }

  test('ratio and spread are those of the rounds', () => {
    const { ratio, spread, noise } = judge('less', [100, 100], [100, 144]);
    assert.equal(ratio.toFixed(2), '1.20');
    assert.equal(spread.toFixed(2), '0.44');
    assert.ok(noise > noiseFloor);
  });

  test('a timed figure shares the noise of the others, a size does not', () => {
    const round = (noisy: number, judged: number) =>
      new Map([
        ['noisy', { value: noisy, better: 'less', isTimed: true } as const],
        ['timed', { value: judged, better: 'less', isTimed: true } as const],
        ['size', { value: judged, better: 'less', isTimed: false } as const],
      ]);
    const compared = compareFigures([round(1, 10), round(2, 10)], [round(1, 15), round(2, 15)]);
    assert.deepEqual(
      compared.map(({ verdict }) => verdict),
      ['same', 'same', 'worse'],
    );
  });

  test('leaves out a figure that a round lacks or that is 0', () => {
    assert.deepEqual(compareFigures(rounds('less', [1, 1]), [new Map(), new Map()]), []);
    assert.deepEqual(compareFigures(rounds('less', [0, 1]), rounds('less', [1, 1])), []);
  });

  test('is shown in the table', () => {
    const text = toMarkdown([judge('less', [100, 100], [150, 150])]);
    const row = '| figure | less | 100.0 | 150.0 | 1.50 | 0 % | 20 % | **worse** |';
    assert.equal(text.split('\n').at(-1), row);
  });
});
