/** Syntax of PromQL: printed again, and the errors. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { QueryError } from '../errors.ts';
import { parseQuery } from './parser.ts';
import { prettyExpr, printExpr } from './print.ts';

const printed: readonly (readonly [string, string])[] = [
  ['a+b*c', 'a + b * c'],
  ['-1 ^ 2', '-1 ^ 2'],
  ['a offset 5m + b', 'a offset 5m + b'],
  ['offset offset 5m+sum(offset)', 'offset offset 5m + sum(offset)'],
  ['sum(a)without(b,"c.d")', 'sum without (b, "c.d") (a)'],
  ['a{b="c",d!~`e`}[5m]@1.5 offset -(1h)', 'a{b="c",d!~"e"}[5m] @ 1.500 offset -(1h)'],
  ['{"a.b",c="d"}', '{"a.b",c="d"}'],
  ['topk(3,a)', 'topk(3, a)'],
  ['a==bool on(b)group_left(c)d', 'a == bool on (b) group_left (c) d'],
  ['a + fill_left(1) fill_right(2) b', 'a + fill_left (1) fill_right (2) b'],
  ['rate(a[5m:1m])', 'rate(a[5m:1m])'],
  ['a[step()*2]', 'a[step() * 2]'],
  ['a smoothed', 'a smoothed'],
  ['1e3 + 0x10 + 1_000 + 90s', '1000 + 16 + 1000 + 1m30s'],
  ['sum + avg', 'sum + avg'],
  ['"a\\n"', '"a\\n"'],
  ['a # all\n', 'a'],
];

suite('printing', () => {
  for (const [text, expected] of printed) {
    test(text, () => {
      const expr = parseQuery(text);
      assert.equal(printExpr(expr), expected);
      assert.equal(printExpr(parseQuery(expected)), expected);
    });
  }

  test('splits long expressions', () => {
    const name = 'a'.repeat(60);
    assert.equal(
      prettyExpr(parseQuery(`sum by (b) (rate(${name}[5m]) / rate(${name}[5m]))`)),
      `sum by (b) (\n    rate(${name}[5m])\n  /\n    rate(${name}[5m])\n)`,
    );
  });

  test('splits many operators, each printed in one line once', () => {
    const text = Array.from({ length: 1400 }, () => 'requests').join(' + ');
    const expr = parseQuery(text);
    let leaf = expr;
    while (leaf.kind === 'binary') leaf = leaf.left;
    let reads = 0;
    Object.defineProperty(leaf, 'name', {
      get() {
        reads += 1;
        return 'requests';
      },
    });
    assert.match(prettyExpr(expr), /^ +requests \+ requests/);
    assert.ok(reads < 10, `${reads} reads of the first selector`);
  });

  test('the modifier binds to the selector, and the sign less than ^', () => {
    const sum = parseQuery('a + b offset 5m');
    assert.ok(sum.kind === 'binary' && sum.right.kind === 'selector');
    assert.ok(sum.right.offset !== undefined);
    const negated = parseQuery('-1 ^ 2');
    assert.ok(negated.kind === 'unary' && negated.expr.kind === 'binary');
  });
});

const invalid: readonly (readonly [string, RegExp])[] = [
  ['', /^1:1: parse error: no expression found in input$/],
  ['sum(', /^1:5: parse error: unclosed left parenthesis$/],
  ['sum(a{b="c"', /^1:12: parse error: unexpected end of input inside braces$/],
  ['a b', /^1:3: parse error: unexpected identifier "b"$/],
  ['a\n  + %', /^2:5: parse error: unexpected "%"$/],
  ['nosuch(a)', /unknown function with name "nosuch"/],
  ['a{b}', /in label matching, expected label matching operator/],
  ['a{b=~"("}', /parse error: error parsing regexp: missing/],
  ['{}', /vector selector must contain at least one non-empty matcher/],
  ['a{__name__="b"}', /metric name must not be set twice: "a" or "b"/],
  ['rate(a)', /expected type range vector in call to function "rate", got instant vector/],
  ['rate(a[5m], 1)', /expected 1 argument\(s\) in call to "rate", got 2/],
  ['sum(a[5m])', /expected type instant vector in aggregation expression, got range vector/],
  ['topk(a)', /wrong number of arguments for aggregate expression provided, expected 2, got 1/],
  ['a[0s]', /duration must be greater than 0/],
  ['a[5m', /unexpected end of input in matrix selector/],
  ['(a)[5m]', /ranges only allowed for vector selectors/],
  ['1 offset 5m', /offset modifier must be preceded by/],
  ['a offset 1m offset 2m', /offset may not be set multiple times/],
  ['a @ 1 @ 2', /@ <timestamp> may not be set multiple times/],
  ['1 < 2', /comparisons between scalars must use BOOL modifier/],
  ['a + bool b', /bool modifier can only be used on comparison operators/],
  ['a and 1', /set operator "and" not allowed in binary scalar expression/],
  ['a and on(b) group_left() c', /no grouping allowed for "and" operation/],
  ['a + on(b) group_left(b) c', /label "b" must not occur in ON and GROUP clause at once/],
  ['"a" + 1', /binary expression must contain only scalar and instant vector types/],
  ['-"a"', /unary expression only allowed on expressions of type scalar or instant vector/],
  ['a["5m"]', /unexpected string "5m" in duration expression/],
  ['1x', /bad number or duration syntax/],
  ["'a", /the quotes are not closed/],
  ['(('.repeat(300), /nested deeper than 500/],
  [`1${' + 1'.repeat(3000)}`, /more than 1500 operators/],
];

suite('errors', () => {
  for (const [text, message] of invalid) {
    test(text.slice(0, 40), () => {
      assert.throws(
        () => parseQuery(text),
        (error) =>
          error instanceof QueryError &&
          error.failure === 'bad_data' &&
          (message.test(error.message) || assert.fail(error.message)),
      );
    });
  }
});
