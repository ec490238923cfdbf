/** The classic text format line by line, and rules common to both formats. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { nowMs, push, refusalOf } from '../../../test/protocols/push-text.ts';
import { seriesState } from '../../model/series-view.ts';

describe('samples', () => {
  const cases: [name: string, text: string, lines: string[]][] = [
    ['nothing', '', []],
    ['blank lines', '\n \n\t\n', []],
    ['a name and a value', 'up 1\n', [`up 1 ${nowMs}`]],
    ['a last line without an end', 'up 1', [`up 1 ${nowMs}`]],
    ['blanks at the end of the body', 'up 1\n  ', [`up 1 ${nowMs}`]],
    ['CRLF line ends', 'up 1\r\n\r\nup 2 3\r\n', [`up 1 ${nowMs}`, 'up 2 3']],
    ['a time', 'up 1 -5\n', ['up 1 -5']],
    ['optional blanks', ' \tup\t{ a = "1" ,\tb="2" }\t1 \t2\t\n', ['up{a="1",b="2"} 1 2']],
    ['no blank after the brace', 'up{a="1"}-Inf\n', [`up{a="1"} -Infinity ${nowMs}`]],
    ['empty braces', 'up{} 1\nup { } 2 3\n', [`up 1 ${nowMs}`, 'up 2 3']],
    ['a trailing comma', 'up{a="1",} 1\n', [`up{a="1"} 1 ${nowMs}`]],
    ['sorted labels', 'up{b="2",a="1"} 1\n', [`up{a="1",b="2"} 1 ${nowMs}`]],
    ['an empty label value', 'up{a="",b="x"} 1\n', [`up{b="x"} 1 ${nowMs}`]],
    ['escapes', 'up{a="\\\\ \\" \\n"} 1\n', [`up{a="\\\\ \\" \\n"} 1 ${nowMs}`]],
    [
      'syntax characters in quotes',
      'up{a="}#,{= \t\0"} 1\n',
      [`up{a="}#,{= \\t\\u0000"} 1 ${nowMs}`],
    ],
    ['non-ASCII text in quotes', 'up{a="größe 😀"} 1\n', [`up{a="größe 😀"} 1 ${nowMs}`]],
    ['a name in quotes', '{"my.metric","a.b"="c"} 1\n', [`my.metric{a.b="c"} 1 ${nowMs}`]],
    ['only a name in quotes', '{"a \\"b\\"\\n"} 1\n', [`a "b"\n 1 ${nowMs}`]],
    ['a name in quotes after a label', '{a="1", "m"} 1\n', [`m{a="1"} 1 ${nowMs}`]],
    ['labels in quotes after a name', 'up{"a"="1"} 1\n', [`up{a="1"} 1 ${nowMs}`]],
    ['colons', ':a:b 1\n', [`:a:b 1 ${nowMs}`]],
    ['labels as sent', 'h{le="1"} 1\n', [`h{le="1"} 1 ${nowMs}`]],
    ['le in one spelling', 'h_bucket{le="1"} 1\n', [`h_bucket{le="1.0"} 1 ${nowMs}`]],
    ['any number for le', 'h_bucket{le="bla"} 1\n', [`h_bucket{le="bla"} 1 ${nowMs}`]],
    ['labels with a reserved prefix', 'up{__a="1"} 1\n', [`up{__a="1"} 1 ${nowMs}`]],
    ['negative zero', 'up -0\n', [`up -0 ${nowMs}`]],
    ['the largest time', 'up 1 9223372036854775807\n', ['up 1 9223372036854775807']],
    [
      'one series at several times',
      'a 1 3\nb 1\na 2 1\na 3\n',
      ['a 1 3', `b 1 ${nowMs}`, 'a 2 1', `a 3 ${nowMs}`],
    ],
  ];
  for (const [name, text, lines] of cases) {
    test(name, async () => assert.deepEqual((await push(text, 'classic')).lines, lines));
  }
});

describe('refused lines', () => {
  const cases: [text: string, place: string, reason: RegExp][] = [
    ['up\n', '1, column 3', /'\{' or a blank/],
    ['up \n', '1, column 4', /a value .* the end of the line/],
    ['ok 1\nup 0x10\n', '2, column 4', /a value .* "0x10"/],
    ['up 1_000\n', '1, column 4', /a value/],
    ['up one\n', '1, column 4', /a value .* "one"/],
    ['up 1e999\n', '1, column 4', /a value that a double can hold/],
    ['up{a="1"}\n', '1, column 10', /a value/],
    ['up 1 2 3\n', '1, column 8', /the end of the line, found "3"/],
    ['up 1 2.72\n', '1, column 6', /a time in whole milliseconds/],
    ['up 1 1e3\n', '1, column 6', /a time in whole milliseconds/],
    ['up 1 9223372036854775808\n', '1, column 6', /64 bits/],
    ['up 1 # {a="b"} 1\n', '1, column 6', /exemplars need OpenMetrics/],
    ['up 1 2 # {a="b"} 1\n', '1, column 8', /exemplars need OpenMetrics/],
    ['up 1\rup 2\n', '1, column 5', /the end of the line/],
    ['@up 1\n', '1, column 1', /the name of a metric/],
    ['1up 1\n', '1, column 1', /the name of a metric/],
    ['größe 1\n', '1, column 3', /'\{' or a blank/],
    ['up-1 1\n', '1, column 3', /'\{' or a blank/],
    ['{} 1\n', '1, column 1', /no metric name/],
    ['{a="b"} 1\n', '1, column 1', /no metric name/],
    ['{""} 1\n', '1, column 2', /the name of a metric is empty/],
    ['up{"x"} 1\n', '1, column 4', /second name of the metric/],
    ['{"x","y"} 1\n', '1, column 6', /second name of the metric/],
    ['up{a="1" 1\n', '1, column 10', /',' or '}'/],
    ['up{a="1\n"} 1\n', '1, column 6', /no closing '"'/],
    ['up{a="1\\\n"} 1\n', '1, column 6', /no closing '"'/],
    ['up{a="é\\t"} 1\n', '1, column 8', /escapes/],
    ['up{a=1} 1\n', '1, column 6', /the value of a label/],
    ["up{a='1'} 1\n", '1, column 6', /the value of a label/],
    ['up{a} 1\n', '1, column 5', /'='/],
    ['up{a+="1"} 1\n', '1, column 5', /'='/],
    ['up{a:b="1"} 1\n', '1, column 5', /'='/],
    ['up{@="1"} 1\n', '1, column 4', /the name of a label/],
    ['up{,} 1\n', '1, column 4', /the name of a label/],
    ['up{a="1",,} 1\n', '1, column 10', /the name of a label/],
    ['up{a="1"+} 1\n', '1, column 9', /',' or '}'/],
    ['up{a="1"b="2"} 1\n', '1, column 9', /',' or '}'/],
    ['up{a="1"}} 1\n', '1, column 10', /a value/],
    ['up{""="1"} 1\n', '1, column 4', /the name of a label is empty/],
    ['up{a="1",a="2"} 1\n', '1, column 10', /repeated label name "a"/],
    ['up{a="",a="2"} 1\n', '1, column 9', /repeated label name "a"/],
    ['up{"a"="1",a="1"} 1\n', '1, column 12', /repeated label name "a"/],
    ['up{__name__="x"} 1\n', '1, column 4', /reserved/],
    ['{"__name__"="x"} 1\n', '1, column 2', /reserved/],
    ['up 1\nup 1\n', '2, column 1', /second sample of this series/],
    ['up{a="1",b="2"} 1 5\nup 1\nup{b="2",a="1",c=""} 2 5\n', '3, column 1', /second sample/],
    [`up{${'abcdefgh'.replaceAll(/./g, '$&="1",')}} 1\n`, '1, column 46', /metrics.maxLabels/],
    [`up{a="${'x'.repeat(61)}"} 1\n`, '1, column 1', /metrics.maxLabelValueLength/],
    [`up{${'a'.repeat(41)}="x"} 1\n`, '1, column 1', /metrics.maxLabelNameLength/],
    [`${'x'.repeat(61)} 1\n`, '1, column 1', /metrics.maxLabelValueLength/],
    ['\ufeffup 1\n', '1, column 1', /the name of a metric/],
    [`# HELP ${'x'.repeat(61)} y\n`, '1, column 8', /metrics.maxLabelValueLength/],
    [`# HELP x ${'y'.repeat(61)}\n`, '1, column 10', /metrics.maxLabelValueLength/],
  ];
  for (const [text, place, reason] of cases) {
    test(JSON.stringify(text).slice(0, 60), async () => {
      const { code, message } = await refusalOf(text, 'classic');
      assert.equal(code, 'malformed');
      assert.ok(message.startsWith(`cannot read the metrics: line ${place}: `), message);
      assert.match(message, reason);
    });
  }

  test('text that is not UTF-8', async () => {
    for (const bytes of [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xc3]]) {
      const body = Buffer.concat([Buffer.from('up 1\né{a="'), Buffer.from(bytes)]);
      const { message } = await refusalOf(body, 'classic');
      assert.match(message, /line 2, column 6: the text is not valid UTF-8/);
    }
  });
});

describe('metadata', () => {
  const metadata = (name: string, type = '', help = '') => ({ name, type, unit: '', help });
  const cases: [name: string, text: string, rows: ReturnType<typeof metadata>[]][] = [
    [
      'type and help',
      '# HELP a Some help.\n# TYPE a counter\na 1\n',
      [metadata('a', 'counter', 'Some help.')],
    ],
    [
      'in any order',
      '# TYPE a gauge\n# TYPE b summary\n# HELP a x\n',
      [metadata('a', 'gauge', 'x'), metadata('b', 'summary')],
    ],
    ['help after samples', 'a 1\n# HELP a x\n', [metadata('a', '', 'x')]],
    ['untyped is unknown', '# TYPE a untyped\n', [metadata('a', 'unknown')]],
    [
      'escapes of help',
      '# HELP a b\\nc \\\\ \\" \\x "d"\n',
      [metadata('a', '', 'b\nc \\ \\" \\x "d"')],
    ],
    ['blanks', '\t# \t HELP  a\t b  c \n #TYPE\ta  gauge\t\n', [metadata('a', 'gauge', 'b  c ')]],
    ['CRLF line ends', '# HELP a b\r\n# TYPE a gauge\r\n', [metadata('a', 'gauge', 'b')]],
    [
      'a name in quotes',
      '# TYPE "a.b" gauge\n# HELP "a.b" x\n{"a.b"} 1\n',
      [metadata('a.b', 'gauge', 'x')],
    ],
    ['a last line without an end', '# TYPE a gauge', [metadata('a', 'gauge')]],
    [
      'incomplete lines are comments',
      '# HELP\n# HELP \n# HELP a\n# HELP a \n# TYPE a\n#\n#TYPE',
      [],
    ],
    [
      'comments',
      '# Even that: "\n#!\n# UNIT a b\n# EOF\n# HELPER a b\n# TYPEa x\n# help a b\n',
      [],
    ],
    [
      'interleaved families',
      '# TYPE a gauge\n# TYPE b gauge\na 1\nb 1\na 2 3\n',
      [metadata('a', 'gauge'), metadata('b', 'gauge')],
    ],
    [
      'a type after samples of its parts',
      'a_count 1\n# TYPE a summary\n',
      [metadata('a', 'summary')],
    ],
  ];
  for (const [name, text, rows] of cases) {
    test(name, async () => assert.deepEqual((await push(text, 'classic')).metadata, rows));
  }

  const refused: [text: string, place: string, reason: RegExp][] = [
    ['# HELP a x\n# HELP a x\n', '2, column 1', /second HELP line of "a"/],
    ['# TYPE a gauge\n # TYPE a untyped\n', '2, column 2', /second TYPE line of "a"/],
    ['a 1\n# TYPE a gauge\n', '2, column 1', /must come before its samples/],
    ['# TYPE a bla\n', '1, column 10', /a type \(counter, .*"bla"/],
    ['# TYPE a GAUGE\n', '1, column 10', /a type/],
    ['# TYPE a gaugehistogram\n', '1, column 10', /a type/],
    ['# TYPE a gauge x\n', '1, column 10', /a type/],
    ['# TYPE a-b gauge\n', '1, column 9', /a blank after the name/],
    ['# TYPE met-ric\n', '1, column 11', /a blank after the name/],
    ['# HELP 1 x\n', '1, column 8', /the name of a metric/],
    ['# HELP "" x\n', '1, column 8', /the name of a metric is empty/],
    ['# HELP "a x\n', '1, column 8', /no closing/],
    ['# HELP "a\\\n" x\n', '1, column 8', /no closing/],
  ];
  for (const [text, place, reason] of refused) {
    test(JSON.stringify(text), async () => {
      const { code, message } = await refusalOf(text, 'classic');
      assert.equal(code, 'malformed');
      assert.ok(message.startsWith(`cannot read the metrics: line ${place}: `), message);
      assert.match(message, reason);
    });
  }
});

describe('limits', () => {
  test('accepts the maximum of samples and rejects one more', async () => {
    const samples = (count: number) =>
      Array.from({ length: count }, (_, i) => `a${i} 1\n`).join('');
    assert.equal((await push(samples(10), 'classic', { maxEvents: 10 })).samples.length, 10);
    const { code, message } = await refusalOf(samples(11), 'classic', { maxEvents: 10 });
    assert.equal(code, 'too_large');
    assert.match(message, /more than 10 samples.*ingest\.promTextMaxSamples/);
  });

  test('counts families without samples', async () => {
    const text = Array.from({ length: 11 }, (_, i) => `# HELP a${i} x\n`).join('');
    assert.equal((await refusalOf(text, 'classic', { maxEvents: 10 })).code, 'too_large');
  });

  test('rejects a series beyond the limit of the account', async () => {
    const series = { streamId: '', maxSeries: 7, scope: 0, look: () => seriesState.refused };
    const { code, message } = await refusalOf('a 1\n', 'classic', { series });
    assert.equal(code, 'quota_exceeded');
    assert.match(message, /line 1, column 1: .* the 7 .* metrics\.maxSeriesPerAccount/);
  });
});

test('writes labels of new series on the day of their sample', async () => {
  const looked: number[] = [];
  const series = {
    streamId: '',
    maxSeries: 9,
    scope: 0,
    look: (_ids: Uint32Array, _at: number, day: number) => {
      looked.push(day);
      return looked.length === 2 ? seriesState.known : seriesState.new;
    },
  };
  const rows = await push('a 1\nb 2\nc 3 86400000\n', 'classic', { series });
  assert.deepEqual(looked, [20455, 20455, 1]);
  assert.deepEqual(
    rows.series.map(({ labels, day }) => [labels[0]?.[1], day]),
    [
      ['a', 20455],
      ['c', 1],
    ],
  );
});

test('stores the canonical NaN, not a staleness marker', async () => {
  const { samples } = await push('a NaN\n', 'classic');
  assert.equal(samples[0]?.valueBits, 0x7ff8_0000_0000_0001n);
});

test('caches series per format', async () => {
  const text = 'format_test{ a="1" } 1\n';
  await push(text, 'classic');
  await refusalOf(`${text}# EOF\n`, 'openmetrics');
  await push('format_test{a="\\x"} 1\n# EOF\n', 'openmetrics');
  await refusalOf('format_test{a="\\x"} 1\n', 'classic');
});

test('a failed push does not affect the next one', async () => {
  await refusalOf('# TYPE a gauge\na 1\nb 2\nc x\n', 'classic');
  const { lines, metadata } = await push('a 1\n', 'classic');
  assert.deepEqual(lines, [`a 1 ${nowMs}`]);
  assert.deepEqual(metadata, []);
});

test('decodes large bodies in slices', async () => {
  const samples = Array.from(
    { length: 4000 },
    (_, i) => `large{a="${'x'.repeat(50)}"} ${i} ${i}\n`,
  );
  const lines = `${samples.join('')}${'#\n'.repeat(400_000)}${'\n'.repeat(1_000_000)}last 1\n`;
  let turns = 0;
  const counting = setInterval(() => (turns += 1), 0);
  const rows = await push(lines, 'classic');
  clearInterval(counting);
  assert.equal(rows.lines.length, 4001);
  assert.ok(turns > 0);
});

test('concurrent bodies do not mix', async () => {
  const body = (name: string) => {
    const samples = Array.from({ length: 2000 }, (_, i) => `${name} ${i} ${i}\n`);
    return `${samples.join('')}${'\n'.repeat(2 ** 20)}`;
  };
  const names = ['one', 'two', 'three'];
  const pushes = await Promise.all(names.map((name) => push(body(name), 'classic')));
  for (const [index, { lines }] of pushes.entries()) {
    assert.equal(lines.length, 2000);
    assert.ok(lines.every((line) => line.split(' ')[0] === names[index]));
  }
});

test('rejects a large body for a fault near its end', async () => {
  const { message } = await refusalOf(`a 1\n${'\n'.repeat(2 ** 20)}oops\n`, 'classic');
  assert.match(message, /line 1048578, column 5/);
});

describe('rejects hostile lines', () => {
  const many = 1_000_000;
  const cases: [name: string, text: string][] = [
    ['a label set of a million', `a{${'x="",'.repeat(many)}} 1\n`],
    [
      'a million names of labels',
      `a{${Array.from({ length: many }, (_, i) => `l${i}=""`).join(',')}} 1\n`,
    ],
    ['a name without end', 'a'.repeat(4 * many)],
    ['a value without end', `a ${'1'.repeat(4 * many)}\n`],
    ['a time without end', `a 1 ${'1'.repeat(4 * many)}\n`],
    ['quotes without end', `a{b="${'\\\\'.repeat(2 * many)}`],
    ['a type without end', `# TYPE a ${'x'.repeat(4 * many)}\n`],
    ['a type of blanks', `# TYPE a gauge${' '.repeat(4 * many)}x\n`],
    ['a help of escapes', `# HELP a ${'\\\\'.repeat(4 * many)}\n`],
    ['a value of escapes', `a{b="${'\\\\'.repeat(4 * many)}"} 1\n`],
  ];
  for (const [name, text] of cases) {
    test(name, async () => {
      const { code, message } = await refusalOf(text, 'classic');
      assert.equal(code, 'malformed');
      assert.ok(message.length < 400);
    });
  }
});
