/** The query language: what people type, canonical text, and errors with positions. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { queryArbitrary } from '../../test/harness/query-arbitrary.ts';
import { findQueryField } from './fields.ts';
import { parseLogQuery, type Query, QueryError } from './parse.ts';
import { printQuery } from './print.ts';

function print(text: string): string {
  const query = parseLogQuery(text);
  return query === undefined ? '' : printQuery(query);
}

suite('reads and prints', () => {
  const cases: readonly (readonly [text: string, printed: string])[] = [
    ['', ''],
    ['  \n', ''],
    ['timeout', 'timeout'],
    ['time* *out', 'time* *out'],
    ['timeout retry', 'timeout retry'],
    ['timeout AND retry', 'timeout retry'],
    ['a OR b c', 'a OR (b c)'],
    ['a || b && c', 'a OR (b c)'],
    ['(a OR b) c', '(a OR b) c'],
    ['((a) ((b c)))', 'a b c'],
    ['NOT a -b NOT NOT c', '-a -b c'],
    ['-(a b)', '-(a b)'],
    ['-"a b"', '-"a b"'],
    ['or and not', 'or and not'],
    ['service:checkout', 'service:checkout'],
    ['severity>=error', 'severity:>=error'],
    ['status:>=500 status<600', 'status:>=500 status:<600'],
    ['env!=prod env:!=test', '-env:prod -env:test'],
    ['host:web-*', 'host:web-*'],
    ['user:*', 'user:*'],
    ['_exists_:user', 'user:*'],
    ['status:[500 TO 599]', 'status:[500 TO 599]'],
    ['status:{* TO "a b"}', 'status:[* TO "a b"}'],
    ['message:/time(out|d)/', 'message:/time(out|d)/'],
    ['/a b\\/c/', 'message:/a b\\/c/'],
    ['host:(a OR "b c" -/d/)', 'host:a OR (host:"b c" -host:/d/)'],
    ['host:a OR host:-b* x -(host:"-c" OR host:"")', 'host:a OR (host:\\-b* x -host:("-c" OR ""))'],
    ['(host:a OR host:b) x', 'host:(a OR b) x'],
    ['"my key":"my value"', '"my key":"my value"'],
    ['a\\:b:c', '"a:b":c'],
    ['user.name:O\\"Brien', 'user.name:"O\\"Brien"'],
    ['path:/api/v1', 'path:"/api/v1"'],
    ['path:/api/v1/*', 'path:\\/api/v1/*'],
    ['2024-01-01T00:00:00Z', '"2024-01-01T00:00:00Z"'],
    ['host:node-1 error:', 'host:node-1 "error:"'],
    ['https://host/path', '"https://host/path"'],
    ['std::vector List<String> a->b', '"std::vector" "List<String>" "a->b"'],
    ['fe80::1 10.0.0.1:80', '"fe80::1" "10.0.0.1:80"'],
    ['System("ls -al /")', '"System(\\"ls -al /\\")"'],
    ['"status": 500', 'status ":" 500'],
    ['foo(bar) (a foo(b) OR c)', '"foo(bar)" ((a "foo(b)") OR c)'],
    ['--retry -', '"--retry" "-"'],
    ['C:\\temp', 'C:"\\\\temp"'],
    ['trace:4bf92f3577b34da6A3CE929D0E0E4736', 'trace:4bf92f3577b34da6A3CE929D0E0E4736'],
    ['label.host:x host:""', 'label.host:x host:""'],
    ['state:OR', 'state:"OR"'],
    ['host: b status:>= 5', 'host:b status:>=5'],
    ['status:(>=400 <500)', 'status:>=400 status:<500'],
    ['status:(<200 OR >"a b" OR -x)', 'status:<200 OR status:>"a b" OR -status:x'],
    ['status:([200 TO 299] OR {499 TO *])', 'status:[200 TO 299] OR status:{499 TO *]'],
    ['severity: >=warn', 'severity:>=warn'],
    ['tag:("<b>" OR \\[x])', 'tag:("<b>" OR "[x]")'],
    ['tag:<b\\> tag:<"b>"', 'tag:<"b>" tag:<"b>"'],
  ];
  for (const [text, printed] of cases) {
    test(text, () => {
      assert.equal(print(text), printed);
      assert.equal(print(printed), printed);
    });
  }
});

suite('refuses with a position and a suggestion', () => {
  const cases: readonly (readonly [text: string, position: number, message: RegExp])[] = [
    ['host:', 5, /a value after host: as in host:\*; "host:" in quotes/],
    ['status:>=', 9, /a value after status:>= as in status:>=10/],
    ['(a OR b', 7, /expected \) for the \( at position 1/],
    ['a b)', 3, /expected \( before \)/],
    ['()', 1, /expected a term before \)/],
    ['host:()', 6, /expected a term before \)/],
    ['a OR', 4, /a term after OR; "OR" in quotes/],
    ['a OR OR b', 5, /a term after OR/],
    ['AND a', 0, /a term, not AND; "AND" in quotes/],
    ['a NOT', 5, /a term after NOT/],
    ['a "b c', 2, /a closing quote/],
    ['status:[200 TO', 14, /a range such as/],
    ['status:[200 299]', 12, /a range such as/],
    ['status:>(1 2)', 8, /a number or a word after >/],
    ['status:(> 5)', 8, /a number or a word after >/],
    ['status:(1 OR [2 TO', 18, /a range such as/],
    ['severity:(info OR >=loud)', 18, /a severity such as/],
    ['image:(<none> OR latest)', 7, /a number or a word after <; quote "<none>" to find it/],
    ['image:<none>', 7, /quote "<none>" to find it/],
    ['status:>5*', 8, /no \* after >/],
    ['severity>loud', 9, /a severity such as/],
    ['severity:[info TO loud]', 18, /a severity such as/],
    ['trace:4bf9', 6, /hex digits of a whole traceId; end with \*/],
    ['stream:/a/', 7, /the name or the id of a stream/],
    ['x '.repeat(201), 400, /at most 200 terms/],
    [`${'('.repeat(60)}a${')'.repeat(60)}`, 40, /at most 40 levels/],
    ['x'.repeat(4_001), 4_000, /at most 4000 characters/],
  ];
  for (const [text, position, message] of cases) {
    test(text.slice(0, 30), () => {
      assert.throws(
        () => parseLogQuery(text),
        (error) => {
          assert.ok(error instanceof QueryError, String(error));
          assert.match(error.message, message);
          assert.equal(error.position, position);
          return true;
        },
      );
    });
  }

  test('a regular expression that the caller refuses', () => {
    const checkRegex = (regex: string) => (regex === '(' ? 'missing )' : undefined);
    assert.throws(() => parseLogQuery('a /(/', { checkRegex }), /RE2: missing \)/);
    assert.ok(parseLogQuery('a /b/', { checkRegex }));
  });
});

const anyText = fc.string({ unit: 'binary', maxLength: 12 });
const nearText = fc
  .array(fc.constantFrom('a', '*', ' ', '"', '\\', '/', ':', '-', '(', ')', '>', 'TO', 'OR', 'é'))
  .map((parts) => parts.join(''));
const texts = fc.oneof(anyText, nearText);

/** Fields with rules for their values have tests of their own. */
const freeKeys = texts.filter(
  (key) =>
    key !== '' &&
    key !== '_exists_' &&
    !['severity', 'streamId', 'traceId', 'spanId'].includes(findQueryField(key) ?? ''),
);

test('the printed text of any tree gives the tree', () => {
  const regexes = texts.filter((text) => /^(?:[^\\\n/]|\\[^\n/])+$/.test(text) && text.length < 20);
  const trees = queryArbitrary({ words: texts, keys: freeKeys, values: texts, regexes });
  fc.assert(
    fc.property(trees, (tree) => {
      const text = printQuery(tree);
      let parsed: Query | undefined;
      try {
        parsed = parseLogQuery(text);
      } catch (error) {
        // Large trees exceed the limits.
        assert.match(String(error), /at most/);
        return;
      }
      assert.deepEqual(parsed, tree, text);
    }),
    { numRuns: 2_000 },
  );
});

test('any text is read or refused, and its canonical text is stable', () => {
  const words = fc.constantFrom(
    'host:',
    'severity>=',
    'error',
    '_exists_:',
    ' OR ',
    ' AND ',
    'NOT ',
    '[1 TO ',
    ...'( ) " - ] / * \\ : > < = ! a 5 { } \n é \ud83d'.split(' '),
    ' ',
  );
  const typed = fc.array(words, { maxLength: 25 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(fc.oneof(typed, anyText), (text) => {
      try {
        const printed = print(text);
        assert.equal(print(printed), printed, JSON.stringify(text));
      } catch (error) {
        if (!(error instanceof QueryError)) throw error;
        assert.ok(error.position >= 0 && error.position <= text.length, text);
        assert.match(error.message, /^expected /);
      }
    }),
    { numRuns: 5_000 },
  );
});
