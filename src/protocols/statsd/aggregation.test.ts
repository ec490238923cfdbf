/** Lines of StatsD, and the exposition of what they add up to. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { Aggregation, type LineFault } from './aggregation.ts';

const labels = { maxLabels: 8, maxLabelNameLength: 20, maxLabelValueLength: 30 };
const options = { maxSeries: 10, forgetAfterMs: 1000, labels };

function flushed(aggregation: Aggregation, nowMs: number): string[] {
  return aggregation
    .flush(nowMs)
    .flatMap((body) => body.toString().split('\n'))
    .filter((line) => line !== '');
}

function samplesOf(...lines: string[]): string[] {
  const aggregation = new Aggregation(options);
  for (const line of lines) assert.equal(aggregation.add(line, 0), undefined, line);
  return flushed(aggregation, 7).map((line) => line.replace(/ 7$/, ''));
}

suite('what lines add up to', () => {
  const cases: readonly (readonly [string, readonly string[], readonly string[]])[] = [
    ['counters', ['a:1|c', 'a:2|c', 'a:-0.5|c'], ['# TYPE a counter', 'a 2.5']],
    ['a sample rate', ['a:1|c|@0.1', 'a:1|c'], ['# TYPE a counter', 'a 11']],
    [
      'gauges',
      ['g:5|g', 'g:+2|g', 'g:-10|g', 'h:1|g', 'h:0|g'],
      ['# TYPE g gauge', 'g -3', '# TYPE h gauge', 'h 0'],
    ],
    ['sets', ['s:a|s', 's:b|s', 's:a|s', 's:a:b|s'], ['# TYPE s gauge', 's 3']],
    [
      'timers in seconds',
      ['t:100|ms', 't:300|ms', 't:200|ms'],
      [
        '# TYPE t summary',
        't{quantile="0.5"} 0.2',
        't{quantile="0.9"} 0.3',
        't{quantile="0.99"} 0.3',
        't_sum 0.6000000000000001',
        't_count 3',
      ],
    ],
    [
      'histograms and distributions as sent, with a sample rate and several values',
      ['d:1:3|d|@0.5', 'd:2|h'],
      [
        '# TYPE d summary',
        'd{quantile="0.5"} 2',
        'd{quantile="0.9"} 3',
        'd{quantile="0.99"} 3',
        'd_sum 10',
        'd_count 5',
      ],
    ],
    [
      'tags in any order',
      ['a:1|c|#env:prod,web', 'a:1|c|#web,env:prod|c:container', 'a:1|c|#b:"\\,a.b:x:y'],
      ['# TYPE a counter', 'a{env="prod"} 2', 'a{a_b="x:y",b="\\"\\\\"} 1'],
    ],
    [
      'tags in names',
      ['a,env=prod:1|c', 'a;env=prod:2|c', 'a;b=c:1|c|#d:e', 'x,y:1|c'],
      ['# TYPE a counter', 'a{env="prod"} 3', 'a{b="c",d="e"} 1', '# TYPE x_y counter', 'x_y 1'],
    ],
    [
      'names as of statsd_exporter',
      ['1.http-requests/é:1|c|#1a:b,__name__:c,quantile:d'],
      ['# TYPE _1_http_requests__ counter', '_1_http_requests__{_1a="b"} 1'],
    ],
  ];
  for (const [name, lines, expected] of cases) {
    test(name, () => assert.deepEqual(samplesOf(...lines), expected));
  }
});

test('counters go on after a flush, sets start over, and what is idle is forgotten', () => {
  const aggregation = new Aggregation(options);
  for (const line of ['c:1|c', 't:1|d', 's:a|s', 'g:1|g']) aggregation.add(line, 0);
  flushed(aggregation, 500);
  for (const line of ['c:1|c', 's:a|s']) aggregation.add(line, 900);
  const values = (nowMs: number) =>
    flushed(aggregation, nowMs).filter((line) => !line.startsWith('#'));
  assert.deepEqual(values(1000), [
    'c 2 1000',
    't_sum 1 1000',
    't_count 1 1000',
    's 1 1000',
    'g 1 1000',
  ]);
  assert.deepEqual(values(1800), ['c 2 1800', 's 0 1800']);
  assert.deepEqual(values(2000), []);
  aggregation.add('c:1|g', 2100);
  assert.deepEqual(values(2200), ['c 1 2200']);
});

test('drops what it cannot count', () => {
  const aggregation = new Aggregation(options);
  const faults: readonly (readonly [string, LineFault | undefined])[] = [
    ['', 'malformed'],
    ['a', 'malformed'],
    [':1|c', 'malformed'],
    ['a:1', 'malformed'],
    ['a:1|x', 'malformed'],
    ['a:x|c', 'malformed'],
    ['a:|c', 'malformed'],
    ['a:1:x|c', 'malformed'],
    ['a:1e999|g', 'malformed'],
    ['a:NaN|g', 'malformed'],
    ['a:1|c|@0', 'malformed'],
    ['a:1|c|@2', 'malformed'],
    ['a:1|c|@x', 'malformed'],
    ['_e{1,1}:a|b', 'malformed'],
    ['_sc|a|0', 'malformed'],
    [`${'a'.repeat(24)}:1|c`, 'malformed'],
    [`a:1|c|#t:${'v'.repeat(31)}`, 'malformed'],
    [`a:1|c|#${'t'.repeat(21)}:v`, 'malformed'],
    ['a:1|c|#a:1,b:1,c:1,d:1,e:1,f:1,g:1', 'malformed'],
    ['a:1|c', undefined],
    ['a:1|g', 'conflict'],
  ];
  for (const [line, fault] of faults) assert.equal(aggregation.add(line, 0), fault, line);
  for (let n = 1; n < 10; n += 1) assert.equal(aggregation.add(`a:1|c|#n:${n}`, 0), undefined);
  assert.equal(aggregation.add('a:1|c|#n:10', 0), 'series');
  assert.equal(aggregation.add('b:1|c', 0), 'series');
  assert.equal(aggregation.add('a:1|c', 0), undefined);
});

test('long members of sets count as several', () => {
  const aggregation = new Aggregation(options);
  const long = 'x'.repeat(8000);
  const faults = Array.from({ length: 10_000 }, (_, n) => aggregation.add(`s:${n}${long}|s`, 0));
  const counted = faults.filter((fault) => fault === undefined).length;
  assert.ok(counted > 7000 && counted < 9000, `${counted} members`);
  assert.equal(faults.at(-1), 'values');
  aggregation.flush(0);
  assert.equal(aggregation.add('s:after|s', 0), undefined);
});
