/**
 * A message as tokens. Runs of letters and digits with a digit are masked first, by the store, so
 * that messages which differ in numbers alone are one text. Pure.
 */

/** What is masked; RE2 and JavaScript find the same. */
export const variableRun = '[A-Za-z]*[0-9][A-Za-z0-9]*';
/** Stands for a masked run; no other digit is left. */
export const mask = '0';

export interface Token {
  /** Masked; empty for what is between two brackets or quotes. */
  readonly text: string;
  /** Numbers and values vary; `number` is also several numbers or names of days in a row. */
  readonly kind: 'space' | 'mark' | 'word' | 'number' | 'value';
}

/** White space of RE2, in a character class. */
export const blanks = String.raw`\t\n\f\r `;
export const marks = String.raw`=:,;()[\]{}<>"'|`;
const word = `[^${blanks}${marks}]+`;
const tokenForms = [
  String.raw`(?<number>[-+.0]*0[-+.0%]*(?: (?:[KMGT]i?)?B)?(?![^${blanks}${marks}]))`,
  String.raw`(?<host>(?<![^${blanks}"'=([{<,])[\w-]+(?:\.[\w-]+)+:0(?![^${blanks}"')\]}>,;]))`,
  String.raw`(?<path>(?<![^${blanks}${marks}])(?:[a-z]+:/)?/[^${blanks}"'()[\]{}<>,;]*)`,
  String.raw`(?<space>[${blanks}]+)`,
  String.raw`(?<empty>\(\)|\[\]|"")`,
  `(?<mark>[${marks}])`,
  `(?<word>${word})`,
];
const tokenPattern = new RegExp(tokenForms.join('|'), 'g');
const calendarWord =
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun|Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)$/;

export function tokensOf(masked: string): Token[] {
  const tokens: Token[] = [];
  for (const { 0: text, groups } of masked.matchAll(tokenPattern)) {
    if (groups!['space'] !== undefined) tokens.push({ text, kind: 'space' });
    else if (groups!['mark'] !== undefined) tokens.push({ text, kind: 'mark' });
    else if (groups!['empty'] !== undefined) {
      tokens.push({ text: text[0]!, kind: 'mark' }, { text: '', kind: 'value' });
      tokens.push({ text: text[1]!, kind: 'mark' });
    } else if (groups!['number'] !== undefined || calendarWord.test(text)) {
      addNumber(tokens, text);
    } else tokens.push({ text, kind: text.includes(mask) ? 'value' : 'word' });
  }
  return tokens;
}

/** Numbers with a single separator between them are one token. */
function addNumber(tokens: Token[], text: string): void {
  const separator = tokens.at(-1);
  const before = tokens.at(-2);
  const isSeparated = separator?.kind === 'space' || /^[:,]$/.test(separator?.text ?? '');
  if (isSeparated && before?.kind === 'number') {
    tokens.length -= 2;
    tokens.push({ text: before.text + separator!.text + text, kind: 'number' });
  } else tokens.push({ text, kind: 'number' });
}
