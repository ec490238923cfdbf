/**
 * Makes untrusted text safe to display: invisible characters, bidirectional controls and terminal
 * escapes become symbols. Pure.
 */

/** An invisible character and its symbol. */
export interface Mark {
  /** Such as `ESC`, or `U+202E` without a short name. */
  readonly shown: string;
  /** Tooltip and accessible name: `U+202E right-to-left override`. */
  readonly name: string;
}

export type VisiblePart = string | Mark;

/** @returns one part when nothing is invisible */
export function toVisibleParts(text: string): readonly VisiblePart[] {
  if (!hidden.test(text)) return [text];
  const parts: VisiblePart[] = [];
  let from = 0;
  for (const match of text.matchAll(everyHidden)) {
    if (isJoining(text, match.index)) continue;
    if (match.index > from) parts.push(text.slice(from, match.index));
    // The CR of a line end needs no symbol.
    if (match[0] !== '\r' || text[match.index + 1] !== '\n') parts.push(toMark(match[0]));
    from = match.index + match[0].length;
  }
  if (from < text.length) parts.push(text.slice(from));
  return parts;
}

/** As plain text with symbols in angle brackets, for titles and labels. */
export function toVisibleText(text: string): string {
  return toVisibleParts(text)
    .map((part) => (typeof part === 'string' ? part : `<${part.shown}>`))
    .join('');
}

/** Truncates without splitting a character. */
export function cutText(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const isHalf = /[\uD800-\uDBFF]/.test(text[maxLength - 1] ?? '');
  return text.slice(0, isHalf ? maxLength - 1 : maxLength);
}

/**
 * Controls, format characters, lone surrogates, line and paragraph separators, and blank letters.
 * Excludes tab, line feed and the visible signs of Arabic numbers.
 */
const hiddenClass =
  '[[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}\\u115F\\u1160\\u3164\\uFFA0\\u2800]' +
  '--[\\n\\t\\u0600-\\u0605\\u06DD\\u08E2]]';
const hidden = new RegExp(hiddenClass, 'v');
const everyHidden = new RegExp(hiddenClass, 'gv');

/** Joiners are legitimate in emoji (family, flag) and within words of scripts that join letters. */
function isJoining(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  if (code !== zeroWidthJoiner && code !== zeroWidthNonJoiner) return false;
  const before = text.slice(Math.max(0, index - 2), index);
  const after = text.slice(index + 1, index + 3);
  if (joiningLetterLast.test(before) && joiningLetterFirst.test(after)) return true;
  return code === zeroWidthJoiner && emojiLast.test(before) && emojiFirst.test(after);
}

const zeroWidthNonJoiner = 0x200c;
const zeroWidthJoiner = 0x200d;
const joiningLetters =
  '[\\p{Script=Arabic}\\p{Script=Syriac}\\p{Script=Mongolian}\\p{Script=Devanagari}' +
  '\\p{Script=Bengali}\\p{Script=Gurmukhi}\\p{Script=Gujarati}\\p{Script=Oriya}\\p{Script=Tamil}' +
  '\\p{Script=Telugu}\\p{Script=Kannada}\\p{Script=Malayalam}\\p{Script=Sinhala}\\p{Script=Khmer}]';
const joiningLetterLast = new RegExp(`${joiningLetters}$`, 'v');
const joiningLetterFirst = new RegExp(`^${joiningLetters}`, 'v');
const emojiLast = /[\p{Extended_Pictographic}\p{Emoji_Modifier}\uFE0F]$/v;
const emojiFirst = /^\p{Extended_Pictographic}/v;

function toMark(character: string): Mark {
  const code = character.codePointAt(0)!;
  const point = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
  const name = names[code] ?? kindOf(code);
  return { shown: controls[code] ?? (code === 0x7f ? 'DEL' : point), name: `${point} ${name}` };
}

/** Short names of the C0 controls (ECMA-48); many fonts lack their pictures. */
const controls: readonly string[] = (
  'NUL SOH STX ETX EOT ENQ ACK BEL BS HT LF VT FF CR SO SI DLE DC1 DC2 DC3 DC4 NAK SYN ETB ' +
  'CAN EM SUB ESC FS GS RS US'
).split(' ');

function kindOf(code: number): string {
  if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return 'control character';
  if (code >= 0xd800 && code <= 0xdfff) return 'half of a character';
  if (code >= 0xe0000 && code <= 0xe007f) return 'invisible tag';
  return 'invisible character';
}

const names: Readonly<Record<number, string>> = {
  0x00: 'null',
  0x07: 'bell',
  0x08: 'backspace',
  0x0d: 'carriage return',
  0x1b: 'escape',
  0x7f: 'delete',
  0x85: 'next line',
  0x9b: 'control sequence introducer',
  0xad: 'soft hyphen',
  0x061c: 'Arabic letter mark',
  0x200b: 'zero-width space',
  0x200c: 'zero-width non-joiner',
  0x200d: 'zero-width joiner',
  0x200e: 'left-to-right mark',
  0x200f: 'right-to-left mark',
  0x2028: 'line separator',
  0x2029: 'paragraph separator',
  0x202a: 'left-to-right embedding',
  0x202b: 'right-to-left embedding',
  0x202c: 'end of embedding or override',
  0x202d: 'left-to-right override',
  0x202e: 'right-to-left override',
  0x2060: 'word joiner',
  0x2066: 'left-to-right isolate',
  0x2067: 'right-to-left isolate',
  0x2068: 'first strong isolate',
  0x2069: 'end of isolate',
  0xfeff: 'byte order mark',
};
