/** The query language for the editor: its grammar is the one of the service. */
import { HighlightStyle, LRLanguage, syntaxHighlighting } from '@codemirror/language';
import { styleTags, tags } from '@lezer/highlight';
import { parser } from '../../../../src/query/grammar.ts';

export const queryLanguage = LRLanguage.define({
  parser: parser.configure({
    props: [
      styleTags({
        'OrWord AndWord NotWord Minus ToWord': tags.operatorKeyword,
        'Open Close RangeOpen RangeClose': tags.paren,
        Key: tags.propertyName,
        Operator: tags.operator,
        'Value Bound': tags.literal,
        Phrase: tags.string,
        Regex: tags.regexp,
      }),
    ],
  }),
});

const colors = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--json-key)' },
  { tag: [tags.literal, tags.string], color: 'var(--json-string)' },
  { tag: tags.regexp, color: 'var(--json-other)' },
  { tag: [tags.operator, tags.paren], color: 'var(--text-quiet)' },
  { tag: tags.operatorKeyword, color: 'var(--text)', fontWeight: '600' },
]);

export const queryColors = syntaxHighlighting(colors);
