/** Series selectors: the matchers of each text, and the position of errors. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { AppError } from '../model/errors.ts';
import type { LabelMatcher, Selector } from '../model/metric-plan.ts';
import { parseSelector } from './selector.ts';

const equal = (name: string, value: string): LabelMatcher => ({ name, type: 'equal', value });
const named = (value: string) => equal('__name__', value);

const good: readonly (readonly [string, Selector])[] = [
  ['up', [named('up')]],
  [' up ', [named('up')]],
  ['job:requests:rate5m', [named('job:requests:rate5m')]],
  ['up{}', [named('up')]],
  ['sum{by="x"}', [named('sum'), equal('by', 'x')]],
  ['up{job="api"}', [named('up'), equal('job', 'api')]],
  ['{job="api"}', [equal('job', 'api')]],
  ['{job="api",}', [equal('job', 'api')]],
  [
    '{ job = "api" , host != "b" }',
    [equal('job', 'api'), { name: 'host', type: 'notEqual', value: 'b' }],
  ],
  [
    '{a=~"b.*",c!~"d|e"}',
    [
      { name: 'a', type: 'matches', value: 'b.*' },
      { name: 'c', type: 'notMatches', value: 'd|e' },
    ],
  ],
  ['{__name__="up"}', [named('up')]],
  [
    '{__name__=~"a.*",__name__!="ab"}',
    [
      { name: '__name__', type: 'matches', value: 'a.*' },
      { name: '__name__', type: 'notEqual', value: 'ab' },
    ],
  ],
  ['{"http.requests"}', [named('http.requests')]],
  ['{"http.requests","k8s.pod"="a"}', [named('http.requests'), equal('k8s.pod', 'a')]],
  ['{job="api", "http.requests"}', [equal('job', 'api'), named('http.requests')]],
  ["{a='it\\'s'}", [equal('a', "it's")]],
  ['{a="say \\"hi\\""}', [equal('a', 'say "hi"')]],
  ['{a=`\\d "raw"\n`}', [equal('a', '\\d "raw"\n')]],
  ['{a="\\a\\b\\f\\n\\r\\t\\v\\\\"}', [equal('a', '\x07\b\f\n\r\t\v\\')]],
  ['{a="\\x41\\101\\u00e9\\U0001F600"}', [equal('a', 'AAé😀')]],
  ['{a="\\xc3\\xa9"}', [equal('a', 'é')]],
  ['{a="\\U00000041"}', [equal('a', 'A')]],
  ['{a="ünïcödé 😀"}', [equal('a', 'ünïcödé 😀')]],
  ['{a="}",b=",{"}', [equal('a', '}'), equal('b', ',{')]],
  ['up # a comment\n{ # another {\n job="api" }', [named('up'), equal('job', 'api')]],
  ['{a="#"}', [equal('a', '#')]],
  ['up{a=""}', [named('up'), equal('a', '')]],
  ['{a!=""}', [{ name: 'a', type: 'notEqual', value: '' }]],
  ['{a=~".+"}', [{ name: 'a', type: 'matches', value: '.+' }]],
  ['{a="",b="c"}', [equal('a', ''), equal('b', 'c')]],
];

const bad: readonly (readonly [string, RegExp])[] = [
  ['', /at its end: expected a metric name or \{/],
  ['   ', /at its end/],
  ['{', /at its end: expected a label name or \}/],
  ['{}', /must ask for a value/],
  ['{a=""}', /must ask for a value/],
  ['{a=~".*"}', /must ask for a value/],
  ['{a!="b"}', /must ask for a value/],
  ['up{', /at its end/],
  ['up}', /at character 3: expected the end/],
  ['up[5m]', /at character 3: expected the end: one series selector/],
  ['up offset 5m', /at character 4/],
  ['rate(up)', /at character 5/],
  ['up + up', /at character 4/],
  ['up{job="api"} 1', /at character 15/],
  ['1up', /at character 1/],
  ['"up"', /at character 1/],
  ['{,}', /at character 2: expected a label name/],
  ['{a="b",,}', /at character 8/],
  ['{a="b" c="d"}', /at character 8: expected , or \}/],
  ['{a}', /at character 3: expected one of = != =~ !~/],
  ['{a=b}', /at character 4: expected a value in quotes/],
  ['{a=="b"}', /at character 4/],
  ['{a<"b"}', /at character 3/],
  ['{a:b="c"}', /at character 3/],
  ['{ä="c"}', /at character 2/],
  ['{""="c"}', /label name that is not empty/],
  ['up{__name__="up"}', /at character 4: the metric name is given twice/],
  ['up{"down"}', /at character 4: the metric name is given twice/],
  ['{"up","down"}', /at character 7: the metric name is given twice/],
  ['{a="b}', /at its end: the quotes are not closed/],
  ['{a=`b}', /at its end: the quotes are not closed/],
  ['{a="b\n"}', /at character 6: a line ends inside of quotes/],
  ['{a="\\q"}', /at character 5: this escape is unknown/],
  ['{a="\\\'"}', /at character 5/],
  ['{a="\\x4"}', /at character 5/],
  ['{a="\\X41"}', /at character 5/],
  ['{a="\\777"}', /at character 5/],
  ['{a="\\ud800"}', /at character 5/],
  ['{a="\\U00110000"}', /at character 5/],
  ['{a="\\xff"}', /no UTF-8/],
  ['{a="\\', /at character 5/],
];

suite('selectors', () => {
  for (const [text, expected] of good) {
    test(JSON.stringify(text), () => assert.deepEqual(parseSelector(text, 'match[]'), expected));
  }
});

suite('invalid selectors', () => {
  for (const [text, message] of bad) {
    test(JSON.stringify(text), () => {
      assert.throws(
        () => parseSelector(text, 'match[]'),
        (error) => {
          assert.ok(error instanceof AppError);
          assert.equal(error.code, 'malformed');
          assert.equal(error.parameter, 'match[]');
          assert.match(error.message, /^cannot .*match\[\]/);
          assert.match(error.message, message);
          return true;
        },
      );
    });
  }
});

const types = [
  ['equal', '='],
  ['notEqual', '!='],
  ['matches', '=~'],
  ['notMatches', '!~'],
] as const;

test('parses any matchers that it can print', () => {
  const text = fc.string({ unit: 'binary' }).filter((value) => value.isWellFormed());
  const matcher = fc
    .tuple(
      text.filter((name) => name !== ''),
      fc.constantFrom(...types),
      text,
    )
    .map(([name, [type, sign], value]) => ({ name, type, sign, value }));
  fc.assert(
    fc.property(fc.array(matcher), (matchers) => {
      const quoted = (value: string) => JSON.stringify(value).replaceAll('\\/', '/');
      const terms = matchers.map(({ name, sign, value }) => quoted(name) + sign + quoted(value));
      const expected = matchers.map(({ name, type, value }) => ({ name, type, value }));
      const parsed = parseSelector(`{${['"up"', ...terms].join(' , ')}}`, 'q');
      assert.deepEqual(parsed, [named('up'), ...expected]);
    }),
  );
});

test('any text is a selector or malformed', () => {
  const piece = fc.constantFrom(
    ...'{}=!~,"\'`\\#\n x'.split(''),
    'up',
    '__name__',
    '\\x',
    '\\u12',
    '""',
    '="a"',
  );
  const pieces = fc.array(piece, { maxLength: 12 }).map((all) => all.join(''));
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), pieces), (text) => {
      try {
        assert.ok(parseSelector(text, 'q').length > 0);
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
      }
    }),
    { numRuns: 5000 },
  );
});
