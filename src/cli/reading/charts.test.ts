/** Bars and charts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createStyle } from '../terminal.ts';
import { barSetOf, toBar, toSparkline, toStackedBar } from './bars.ts';
import { facetsText } from './facets.ts';
import { histogramText } from './histogram.ts';
import { statsText } from './stats.ts';
import { traceText } from './trace.ts';

const plain: Parameters<typeof histogramText>[1] = {
  columns: 40,
  style: createStyle({}, false),
  bars: 'blocks',
  zone: 'utc',
};

const bars: readonly [number, string, string][] = [
  [0, '', ''],
  [0.0001, '▏', '#'],
  [0.5, '██▌', '###'],
  [1, '█████', '#####'],
  [7, '█████', '#####'],
];
for (const [share, blocks, ascii] of bars) {
  test(`draws a bar for a share of ${share}`, () => {
    assert.equal(toBar(share, 5, 'blocks'), blocks);
    assert.equal(toBar(share, 5, 'ascii'), ascii);
  });
}

test('draws a character for each count', () => {
  assert.equal(toSparkline([0, 1, 50, 100], 'blocks'), ' ▁▄█');
  assert.equal(toSparkline([0, 1, 50, 100], 'ascii'), ' .=@');
  assert.equal(toSparkline([0, 0], 'blocks'), '  ');
});

test('cuts a stacked bar into pieces of the whole', () => {
  const parts = fc.array(fc.nat(1_000), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(parts, fc.integer({ min: 1, max: 80 }), (counts, width) => {
      const sum = counts.reduce((total, count) => total + count, 0);
      const whole = { most: Math.max(1, sum), width, set: 'blocks' } as const;
      assert.equal(toStackedBar(counts, whole).join(''), toBar(sum / whole.most, width, 'blocks'));
    }),
  );
});

test('uses blocks only in a UTF-8 locale', () => {
  assert.equal(barSetOf({ LANG: 'de_DE.UTF-8' }), 'blocks');
  assert.equal(barSetOf({ LANG: 'de_DE.UTF-8', LC_ALL: 'C' }), 'ascii');
  assert.equal(barSetOf({ LC_ALL: '', LC_CTYPE: 'C.utf8' }), 'blocks');
  assert.equal(barSetOf({}), 'ascii');
});

test('fills the lines of a histogram', () => {
  const buckets = [2, 0, 4].map((count, i) => ({
    startTime: `2026-11-21T08:0${i}:00.000Z`,
    count,
  }));
  const histogram = { startTime: '', endTime: '2026-11-21T08:03:00.000Z', buckets, total: 6 };
  assert.equal(
    histogramText(histogram, plain),
    [
      '2026-11-21 08:00:00Z 2 ████████',
      '2026-11-21 08:01:00Z 0',
      '2026-11-21 08:02:00Z 4 ████████████████',
      '6 logs until 2026-11-21 08:03:00Z',
      '',
    ].join('\n'),
  );
});

test('shows a column per severity, the worst first, and one for the rest', () => {
  const words = ['INFO', 'ERROR', 'A', 'B', 'C', '__proto__'];
  const groups = Object.fromEntries(words.map((word, i) => [word, 10 - i] as const));
  const count = words.reduce((sum, _, i) => sum + 10 - i, 4);
  const buckets = [{ startTime: '2026-11-21T08:00:00.000Z', count, groups, other: 4 }];
  const histogram = { startTime: '', endTime: '2026-11-21T08:03:00.000Z', buckets, total: count };
  const [head, row] = histogramText(histogram, plain).split('\n');
  assert.match(head!, /^ +ERROR INFO A B C __proto__ other$/);
  assert.match(row!, /^2026-11-21 08:00:00Z +9 +10 8 7 6 +5 +4 █+$/);
});

test('shows fractions of seconds for buckets shorter than a second', () => {
  const buckets = [0, 5].map((i) => ({ startTime: `2026-11-21T08:00:00.${i}00Z`, count: i }));
  const histogram = { startTime: '', endTime: '2026-11-21T08:00:01.000Z', buckets, total: 5 };
  assert.match(histogramText(histogram, plain), /08:00:00\.500Z 5 █/);
});

test('shows shares, absent values and the rest of a facet, with values escaped', () => {
  const values = [
    { value: 'a\u001b[2J', count: 6 },
    { value: '', count: 3 },
  ];
  const facet = { field: 'host', values, other: 1, total: 10 };
  assert.equal(
    facetsText([facet, { field: 'service', values: [], other: 0, total: 0 }], plain),
    [
      'host  10 logs',
      '  a\\u001b[2J  6  60.0 % ████████████',
      '  (none)      3  30.0 % ██████',
      '  (other)     1  10.0 % ██',
      '',
      'service  0 logs',
      '',
    ].join('\n'),
  );
});

test('draws the services of a trace over its time', () => {
  const log = (serviceName: string, ms: number, severityNumber = 9) => ({
    serviceName,
    spanId: serviceName.slice(0, 1),
    timestampNanos: String(1_790_000_000_000_000_000n + BigInt(ms * 1e6)),
    severityNumber,
  });
  const logs = [log('edge', 0), log('shop', 500), log('', 750), log('shop', 1000, 17)];
  assert.equal(
    traceText([...logs, log('edge', 1000)], { ...plain, columns: 52 }),
    [
      'edge          ████████████  1 s, 2 logs\n',
      'shop                ██████  500 ms, 2 logs, 1 error\n',
      '(no service)           ▌    0 µs, 1 log\n',
    ].join(''),
  );
});

test('pads columns of statistics to 40 characters, and shows longer values as a whole', () => {
  const row = (service: string) => ({ time: '', by: { service }, values: { count: 12 } });
  const rows = [row('s'.repeat(50)), row('shop')];
  assert.equal(
    statsText({ exact: true, rows }, true, 'utc'),
    [
      `service${' '.repeat(33)}  count\n`,
      `${'s'.repeat(50)}     12\n`,
      `shop${' '.repeat(36)}     12\n`,
    ].join(''),
  );
});
