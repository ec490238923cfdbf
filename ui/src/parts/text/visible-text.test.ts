/** Invisible characters become visible, and nothing else changes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cutText, toVisibleParts, toVisibleText } from './visible-text.ts';

const untouched: readonly (readonly [string, string])[] = [
  ['plain text', 'GET /healthz 200 in 3 ms'],
  ['tabs and line feeds', 'a\tb\nc'],
  ['other scripts', 'שלום عالم 你好 नमस्ते ١٢٣ \u0600١٢'],
  ['emoji that are joined', '👩🏽‍💻 👨‍👩‍👧 🏳️‍🌈 ❤️'],
  ['words that need a joiner', 'می‌خواهم क्‍ष'],
  ['markup', '<script>alert(1)</script>&lt;'],
  ['nothing', ''],
];
for (const [name, text] of untouched) {
  test(`leaves ${name} unchanged`, () => {
    assert.deepEqual(toVisibleParts(text), [text]);
    assert.equal(toVisibleText(text), text);
  });
}

const marked: readonly (readonly [string, string, string])[] = [
  ['a terminal escape', '\u001b[31mred', '<ESC>[31mred'],
  ['NUL and bell', 'a\0b\u0007', 'a<NUL>b<BEL>'],
  ['delete', 'a\u007fb', 'a<DEL>b'],
  ['C1 controls', 'a\u0085\u009bb', 'a<U+0085><U+009B>b'],
  ['a lone carriage return', 'shown\rhidden', 'shown<CR>hidden'],
  ['an override of direction', 'user\u202Egnp.exe', 'user<U+202E>gnp.exe'],
  ['isolates', '\u2066a\u2069', '<U+2066>a<U+2069>'],
  ['marks of direction', '\u200Ea\u200F\u061C', '<U+200E>a<U+200F><U+061C>'],
  ['zero-width spaces', 'pass\u200Bword\uFEFF', 'pass<U+200B>word<U+FEFF>'],
  ['a joiner between Latin letters', 'a\u200Db\u200Cc', 'a<U+200D>b<U+200C>c'],
  ['a joiner at an end', '👩\u200D', '👩<U+200D>'],
  ['soft hyphens and word joiners', 'a\u00ADb\u2060c', 'a<U+00AD>b<U+2060>c'],
  ['line and paragraph separators', 'a\u2028b\u2029', 'a<U+2028>b<U+2029>'],
  ['lone surrogates', 'a\uD800b\uDC00', 'a<U+D800>b<U+DC00>'],
  ['tag characters', 'a\u{E0041}', 'a<U+E0041>'],
  ['blank letters', 'a\u3164b\u115F', 'a<U+3164>b<U+115F>'],
];
for (const [name, text, expected] of marked) {
  test(`makes ${name} visible`, () => assert.equal(toVisibleText(text), expected));
}

test('treats CR LF as a line end', () => {
  assert.deepEqual(toVisibleParts('a\r\nb'), ['a', '\nb']);
});

test('describes each symbol', () => {
  assert.deepEqual(toVisibleParts('\u202E'), [
    { shown: 'U+202E', name: 'U+202E right-to-left override' },
  ]);
  assert.deepEqual(toVisibleParts('\u0001'), [{ shown: 'SOH', name: 'U+0001 control character' }]);
});

test('leaves nothing invisible, for any text', () => {
  let every = '';
  for (let code = 0; code < 0x30000; code += 1) every += `x${String.fromCodePoint(code)}`;
  const shown = toVisibleText(every);
  assert.doesNotMatch(shown, hiding);
});

const hiding = /[[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\p{Bidi_Control}\u200B-\u200F]--[\n\t]]/v;

test('cuts between characters', () => {
  assert.equal(cutText('abc', 3), 'abc');
  assert.equal(cutText('abcd', 3), 'abc');
  assert.equal(cutText('ab👩d', 3), 'ab');
  assert.equal(cutText('ab👩d', 4), 'ab👩');
});
