/** Series selectors: the matchers of each text, and what is none. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { AppError } from '../model/errors.ts';
import type { LabelMatcher, Selector } from '../model/metric-plan.ts';
import { quotePattern } from '../promql/matchers.ts';
import { parseSelector } from './parse-promql.ts';

const equal = (name: string, value: string): LabelMatcher => ({ name, type: 'equal', value });
const named = (value: string) => equal('__name__', value);

const good: readonly (readonly [string, Selector])[] = [
  ['up', [named('up')]],
  [' up ', [named('up')]],
  ['job:requests:rate5m', [named('job:requests:rate5m')]],
  ['up{}', [named('up')]],
  ['sum{by="x"}', [equal('by', 'x'), named('sum')]],
  ['up{job="api"}', [equal('job', 'api'), named('up')]],
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
  ['up # a comment\n{ # another {\n job="api" }', [equal('job', 'api'), named('up')]],
  ['{a="#"}', [equal('a', '#')]],
  ['up{a=""}', [equal('a', ''), named('up')]],
  ['{a!=""}', [{ name: 'a', type: 'notEqual', value: '' }]],
  ['{a=~".+"}', [{ name: 'a', type: 'matches', value: '.+' }]],
  ['{a="",b="c"}', [equal('a', ''), equal('b', 'c')]],
  // Refused in a query only, also by Prometheus.
  ['up{__name__="up"}', [named('up'), named('up')]],
  ['up{"down"}', [named('down'), named('up')]],
  ['{"up","down"}', [named('up'), named('down')]],
];

const bad: readonly (readonly [string, RegExp])[] = [
  ['', /1:1: parse error: no expression/],
  ['{', /1:2: parse error/],
  ['{}', /^invalid parameter "match\[\]": match\[\] must contain at least one non-empty matcher$/],
  ['{a=""}', /at least one non-empty matcher/],
  ['{a=~".*"}', /at least one non-empty matcher/],
  ['{a!="b"}', /at least one non-empty matcher/],
  ['{a=~"("}', /error parsing regexp/],
  ['up[5m]', /"up\[5m\]": it must be a series selector/],
  ['up offset 5m', /it must be a series selector/],
  ['up @ 5', /it must be a series selector/],
  ['up smoothed', /it must be a series selector/],
  ['(up)', /it must be a series selector/],
  ['up + up', /it must be a series selector/],
  ['"up"', /it must be a series selector/],
  ['rate(up)', /it must be a series selector/],
  ['1up', /1:1: parse error/],
  ['{,}', /1:2: parse error/],
  ['{a="b",,}', /1:8: parse error/],
  ['{a="b" c="d"}', /1:8: parse error/],
  ['{a=b}', /1:4: parse error/],
  ['{a:b="c"}', /1:2: parse error/],
  ['{a="b}', /the quotes are not closed/],
  ['{a="b\n"}', /a line ends inside of quotes/],
  ['{a="\\q"}', /1:5: parse error: this escape is unknown/],
  ['{a="\\xff"}', /no UTF-8/],
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
          assert.match(error.message, /match\[\]/);
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
    .map(([name, [type, sign], sent]) => {
      const value = sign.endsWith('~') ? quotePattern(sent) : sent;
      return { name, type, sign, value };
    });
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
