/** OpenMetrics: accepted and refused expositions, line by line. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { nowMs, push, refusalOf } from '../../../test/protocols/push-text.ts';

const histogram = (...lines: string[]) => ['# TYPE h histogram', ...lines, '# EOF', ''].join('\n');

describe('accepts', () => {
  const cases: [name: string, text: string, lines: string[]][] = [
    ['nothing', '# EOF\n', []],
    ['a last line without an end', 'a 1\n# EOF', [`a 1 ${nowMs}`]],
    [
      'time in seconds',
      'a 1 1.5\nb 1 1.7e9\nc 1 -0.0005\n# EOF\n',
      ['a 1 1500', 'b 1 1700000000000', 'c 1 -1'],
    ],
    [
      'escapes that mean nothing stay',
      'a{b="\\x\\\\\\n\\""} 1\n# EOF\n',
      [`a{b="\\\\x\\\\\\n\\""} 1 ${nowMs}`],
    ],
    ['a name in quotes', '{"a.b","c.d"="e"} 1\n# EOF\n', [`a.b{c.d="e"} 1 ${nowMs}`]],
    ['a carriage return in quotes', 'a{b="\r"} 1\n# EOF\n', [`a{b="\\r"} 1 ${nowMs}`]],
    [
      'a counter',
      '# TYPE a counter\na_total 1\na_created 1.5\n# EOF\n',
      [`a_total 1 ${nowMs}`, `a_created 1.5 ${nowMs}`],
    ],
    ['a gauge', '# TYPE a gauge\na NaN\n# EOF\n', [`a NaN ${nowMs}`]],
    [
      'a gauge before another metric',
      '# TYPE a gauge\na 1\na_total 2\n# EOF\n',
      [`a 1 ${nowMs}`, `a_total 2 ${nowMs}`],
    ],
    ['no samples', '# TYPE a counter\n# TYPE b gauge\nb 1\n# EOF\n', [`b 1 ${nowMs}`]],
    ['an info', '# TYPE a info\na_info{b="c"} 1.0\n# EOF\n', [`a_info{b="c"} 1 ${nowMs}`]],
    [
      'a state set',
      '# TYPE a stateset\na{a="x"} 0\na{a="y"} 1\n# EOF\n',
      [`a{a="x"} 0 ${nowMs}`, `a{a="y"} 1 ${nowMs}`],
    ],
    [
      'a summary',
      '# TYPE a summary\na{quantile="0.9"} NaN\na_sum -1\na_count 2\n# EOF\n',
      [`a{quantile="0.9"} NaN ${nowMs}`, `a_sum -1 ${nowMs}`, `a_count 2 ${nowMs}`],
    ],
    [
      'a histogram',
      histogram('h_bucket{le="1.0"} 1', 'h_bucket{le="+Inf"} 2', 'h_count 2', 'h_sum 3'),
      [
        `h_bucket{le="1.0"} 1 ${nowMs}`,
        `h_bucket{le="+Inf"} 2 ${nowMs}`,
        `h_count 2 ${nowMs}`,
        `h_sum 3 ${nowMs}`,
      ],
    ],
    [
      'a histogram at two times',
      histogram('h_bucket{le="+Inf"} 2 1', 'h_bucket{le="+Inf"} 1 2'),
      ['h_bucket{le="+Inf"} 2 1000', 'h_bucket{le="+Inf"} 1 2000'],
    ],
    [
      'a histogram without buckets',
      histogram('h_sum 1', 'h_count 1'),
      [`h_sum 1 ${nowMs}`, `h_count 1 ${nowMs}`],
    ],
    [
      'a gauge histogram',
      '# TYPE g gaugehistogram\ng_bucket{le="+Inf"} 1\ng_gsum -1\n# EOF\n',
      [`g_bucket{le="+Inf"} 1 ${nowMs}`, `g_gsum -1 ${nowMs}`],
    ],
    [
      'types unknown',
      '# TYPE a unknown\na 1\nb_total -1\n# EOF\n',
      [`a 1 ${nowMs}`, `b_total -1 ${nowMs}`],
    ],
    [
      'numbers in any case',
      'a +inf\nb INFINITY\nc nAn\n# EOF\n',
      [`a Infinity ${nowMs}`, `b Infinity ${nowMs}`, `c NaN ${nowMs}`],
    ],
  ];
  for (const [name, text, lines] of cases) {
    test(name, async () => assert.deepEqual((await push(text, 'openmetrics')).lines, lines));
  }

  test('reads type, unit and help', async () => {
    const text =
      '# HELP a_seconds b \\\\ \\" \\n \\x \n# UNIT a_seconds seconds\n# TYPE a_seconds gauge\n' +
      '# TYPE b gauge\n# UNIT b \n# HELP b \n# HELP c \n# EOF\n';
    assert.deepEqual((await push(text, 'openmetrics')).metadata, [
      { name: 'a_seconds', type: 'gauge', unit: 'seconds', help: 'b \\ " \n \\x ' },
      { name: 'b', type: 'gauge', unit: '', help: '' },
    ]);
  });
});

describe('exemplars', () => {
  test('have their own time, or that of their sample', async () => {
    const { exemplars, samples } = await push(
      '# TYPE a counter\na_total 1 # {b="2",a="1",c=""} 0.5\na_total{x="y"} 2 3 # {} 1 4.5\n' +
        '# TYPE g gaugehistogram\ng_bucket{le="+Inf"} 1 5 # {t="ü"} -1e3\n# EOF\n',
      'openmetrics',
    );
    const seen = exemplars.map(({ id, timeMs, value, labels }) => ({
      sample: samples.findIndex((sample) => sample.id === id),
      timeMs,
      value,
      labels,
    }));
    assert.deepEqual(seen, [
      {
        sample: 0,
        timeMs: BigInt(nowMs),
        value: 0.5,
        labels: [
          ['a', '1'],
          ['b', '2'],
        ],
      },
      { sample: 1, timeMs: 4500n, value: 1, labels: [] },
      { sample: 2, timeMs: 5000n, value: -1000, labels: [['t', 'ü']] },
    ]);
  });

  test('have labels of at most 128 characters', async () => {
    const line = (length: number) =>
      `# TYPE a counter\na_total 1 # {abcd="${'😀'.repeat(length - 4)}"} 1\n# EOF\n`;
    assert.equal((await push(line(128), 'openmetrics')).exemplars.length, 1);
    assert.match((await refusalOf(line(129), 'openmetrics')).message, /129 characters/);
  });
});

describe('refuses', () => {
  const eof = '# EOF\n';
  const cases: [text: string, place: string, reason: RegExp][] = [
    // End of the exposition.
    ['', '1, column 1', /"# EOF"/],
    ['a 1\n', '2, column 1', /"# EOF"/],
    ['a 1', '1, column 4', /the end of the line/],
    [`${eof}\n`, '2, column 1', /nothing after/],
    [`${eof}a 1\n`, '2, column 1', /nothing after/],
    [`${eof}${eof}`, '2, column 1', /nothing after/],
    ['# EOF \n', '1, column 3', /HELP, TYPE, UNIT or EOF/],
    ['# EOF\r\n', '1, column 6', /the end of the line/],
    [`\n${eof}`, '1, column 1', /the name of a metric/],
    [`a 1\n\n${eof}`, '2, column 1', /the name of a metric/],
    // Blanks.
    [` a 1\n${eof}`, '1, column 1', /the name of a metric/],
    [`a  1\n${eof}`, '1, column 3', /a value/],
    [`a\t1\n${eof}`, '1, column 2', /'\{' or a blank/],
    [`a 1 \n${eof}`, '1, column 4', /the end of the line/],
    [`a 1  2\n${eof}`, '1, column 5', /a time/],
    [`a 1 2 \n${eof}`, '1, column 6', /the end of the line/],
    [`a 1 2 3\n${eof}`, '1, column 6', /the end of the line/],
    [`a {b="c"} 1\n${eof}`, '1, column 3', /a value/],
    [`a{b="c"}1\n${eof}`, '1, column 9', /a space/],
    [`a{ b="c"} 1\n${eof}`, '1, column 3', /the name of a label/],
    [`a{b ="c"} 1\n${eof}`, '1, column 4', /'='/],
    [`a{b= "c"} 1\n${eof}`, '1, column 5', /the value of a label/],
    [`a{b="c", d="e"} 1\n${eof}`, '1, column 9', /the name of a label/],
    [`a{b="c",} 1\n${eof}`, '1, column 9', /the name of a label/],
    [`a 1\r\n${eof}`, '1, column 4', /\\n alone/],
    [`# TYPE a gauge\r\n${eof}`, '1, column 15', /\\n alone/],
    // Values and times.
    [`a 1 NaN\n${eof}`, '1, column 5', /a time in seconds/],
    [`a 1 0x1\n${eof}`, '1, column 5', /a time in seconds/],
    [`a 1_0\n${eof}`, '1, column 3', /a value/],
    // Labels.
    [`a{__b="c"} 1\n${eof}`, '1, column 3', /reserved/],
    [`a{b="\\\n"} 1\n${eof}`, '1, column 5', /no closing/],
    [`{b="c"} 1\n${eof}`, '1, column 1', /no metric name/],
    [`a 1 1\na 2 1\n${eof}`, '2, column 1', /second sample/],
    // Lines about families.
    [`# a comment\n${eof}`, '1, column 3', /HELP, TYPE, UNIT or EOF/],
    [`#TYPE a gauge\n${eof}`, '1, column 2', /one space after '#'/],
    [`#\tTYPE a gauge\n${eof}`, '1, column 2', /one space after '#'/],
    [`# TYPE\n${eof}`, '1, column 7', /one space/],
    [`# TYPE a\n${eof}`, '1, column 9', /one space/],
    [`# HELP a\n${eof}`, '1, column 9', /one space/],
    [`# TYPE a  gauge\n${eof}`, '1, column 10', /a type/],
    [`# TYPE a gauge \n${eof}`, '1, column 10', /a type/],
    [`# TYPE a untyped\n${eof}`, '1, column 10', /a type/],
    [`# TYPE a Gauge\n${eof}`, '1, column 10', /a type/],
    [`# TYPE a gauge\n# TYPE a gauge\n${eof}`, '2, column 1', /second TYPE/],
    [`# HELP a b\n# HELP a b\n${eof}`, '2, column 1', /second HELP/],
    [`# UNIT a_b b\n# UNIT a_b b\n${eof}`, '2, column 1', /second UNIT/],
    [`# TYPE a gauge\na 1\n# HELP a b\n${eof}`, '3, column 1', /before its samples/],
    [`a 1\n# TYPE a gauge\n${eof}`, '2, column 1', /before its samples/],
    [`# UNIT a seconds\n${eof}`, '1, column 1', /must end in its unit/],
    [`# UNIT aseconds seconds\n${eof}`, '1, column 1', /must end in its unit/],
    [`# UNIT a b c\n${eof}`, '1, column 10', /a unit/],
    [`# TYPE a_b info\n# UNIT a_b b\n${eof}`, '2, column 1', /no unit/],
    [`# UNIT a_b b\n# TYPE a_b stateset\n${eof}`, '2, column 1', /no unit/],
    [`# TYPE a gauge\n# TYPE b gauge\na 1\n${eof}`, '3, column 1', /must be contiguous/],
    [`a 1\nb 1\na 2 3\n${eof}`, '3, column 1', /must be contiguous/],
    [`a 1\n# TYPE b gauge\na 2 3\n${eof}`, '3, column 1', /must be contiguous/],
    [`# TYPE a counter\n# TYPE a_total gauge\n${eof}`, '2, column 1', /appeared before/],
    [`# TYPE a_total gauge\n# TYPE a counter\n${eof}`, '2, column 1', /another family/],
    // Rules of each type.
    [`# TYPE a counter\na 1\n${eof}`, '2, column 1', /_total or _created/],
    [`# TYPE a counter\na_total NaN\n${eof}`, '2, column 1', /negative or NaN/],
    [`# TYPE a counter\na_total -1\n${eof}`, '2, column 1', /negative or NaN/],
    [`# TYPE a info\na 1\n${eof}`, '2, column 1', /_info/],
    [`# TYPE a info\na_info 2\n${eof}`, '2, column 1', /must be 1/],
    [`# TYPE a stateset\na 1\n${eof}`, '2, column 1', /needs the label "a"/],
    [`# TYPE a stateset\na{a="b"} 2\n${eof}`, '2, column 1', /0 or 1/],
    [`# TYPE a stateset\na{a="b"} NaN\n${eof}`, '2, column 1', /0 or 1/],
    [`# TYPE a summary\na 1\n${eof}`, '2, column 1', /"quantile"/],
    [`# TYPE a summary\na{quantile="1.1"} 1\n${eof}`, '2, column 1', /from 0 to 1/],
    [`# TYPE a summary\na{quantile="x"} 1\n${eof}`, '2, column 1', /from 0 to 1/],
    [`# TYPE a summary\na{quantile="NaN"} 1\n${eof}`, '2, column 1', /from 0 to 1/],
    [`# TYPE a summary\na_count NaN\n${eof}`, '2, column 1', /negative or NaN/],
    [`# TYPE a summary\na_count -1\n${eof}`, '2, column 1', /negative or NaN/],
    // Histograms.
    [histogram('h_bucket 1'), '2, column 1', /needs the label "le"/],
    [histogram('h_bucket{le="x"} 1'), '2, column 1', /must be a number/],
    [histogram('h_bucket{le="NaN"} 1'), '2, column 1', /must be a number/],
    [histogram('h_bucket{le="+Inf"} NaN'), '2, column 1', /negative or NaN/],
    [histogram('h_bucket{le="+Inf"} -1'), '2, column 1', /negative or NaN/],
    [histogram('h_count -1'), '2, column 1', /negative or NaN/],
    [histogram('h 1'), '2, column 1', /_bucket or _count or _sum/],
    [histogram('h_bucket{le="1"} 1'), '3, column 1', /no bucket with le="\+Inf"/],
    [histogram('h_bucket{le="1"} 1', 'h_count 1', 'b 1'), '4, column 1', /no bucket with/],
    [histogram('h_bucket{le="1"} 1', 'h_bucket{a="b",le="+Inf"} 1'), '3, column 1', /no bucket/],
    [histogram('h_bucket{le="1"} 1 1', 'h_bucket{le="+Inf"} 1 2'), '3, column 1', /no bucket/],
    [histogram('h_bucket{le="2"} 1', 'h_bucket{le="1"} 1'), '3, column 1', /the order/],
    [histogram('h_bucket{le="1"} 1', 'h_bucket{le="1.0"} 1'), '3, column 1', /second sample/],
    [histogram('h_bucket{le="+Inf"} 1', 'h_bucket{le="1"} 1'), '3, column 1', /the order/],
    [histogram('h_bucket{le="1"} 2', 'h_bucket{le="+Inf"} 1'), '3, column 1', /less than/],
    [histogram('h_bucket{le="+Inf"} 1', 'h_count 2'), '4, column 1', /counts 2, but/],
    [histogram('h_count 2', 'h_bucket{le="+Inf"} 1'), '4, column 1', /counts 2, but/],
    [
      histogram('h_sum{a="1"} 1', 'h_sum{a="2"} 1', 'h_count{a="1"} 1'),
      '4, column 1',
      /must be contiguous/,
    ],
    // Exemplars.
    [`a 1 # {b="c"} 1\n${eof}`, '1, column 5', /may have an exemplar/],
    [`# TYPE a gauge\na 1 # {} 1\n${eof}`, '2, column 5', /may have an exemplar/],
    [`# TYPE a counter\na_created 1 # {} 1\n${eof}`, '2, column 13', /may have an exemplar/],
    [histogram('h_count 1 # {} 1'), '2, column 11', /may have an exemplar/],
    [`# TYPE a summary\na{quantile="0"} 1 # {} 1\n${eof}`, '2, column 19', /may have an exemplar/],
    [`# TYPE a counter\na_total 1 #\n${eof}`, '2, column 12', /one space/],
    [`# TYPE a counter\na_total 1 # 1\n${eof}`, '2, column 13', /'\{'/],
    [`# TYPE a counter\na_total 1 # {a="b"}\n${eof}`, '2, column 20', /one space/],
    [`# TYPE a counter\na_total 1 # {a="b"} x\n${eof}`, '2, column 21', /exemplar's value/],
    [`# TYPE a counter\na_total 1 # {a="b"} 1 x\n${eof}`, '2, column 23', /a time in seconds/],
    [`# TYPE a counter\na_total 1 # {a="b"} 1 1 \n${eof}`, '2, column 24', /the end of the line/],
    [`# TYPE a counter\na_total 1 # {} 1 # {} 2\n${eof}`, '2, column 18', /a time in seconds/],
    [`# TYPE a counter\na_total 1 # {"x"} 1\n${eof}`, '2, column 17', /'='/],
    [`# TYPE a counter\na_total 1  # {} 1\n${eof}`, '2, column 11', /a time/],
  ];
  for (const [text, place, reason] of cases) {
    test(JSON.stringify(text).slice(0, 90), async () => {
      const { code, message } = await refusalOf(text, 'openmetrics');
      assert.equal(code, 'malformed');
      assert.ok(message.startsWith(`cannot read the metrics: line ${place}: `), message);
      assert.match(message, reason);
    });
  }
});
