/**
 * Label names as they stand in a path: Prometheus 3 writes those that are no plain words in letters
 * of plain ones. https://github.com/prometheus/proposals/blob/main/proposals/2023-08-21-utf8.md
 * Pure.
 */

const mark = 'U__';
/** `__` is an underscore, `_2e_` the character with this number. */
const escapeSequence = /_(?:_|([0-9a-f]{1,6})_)/iy;
const plain = /[^_]+/y;

/** @returns the name that was meant; the text itself where it is no escaped name. */
export function unescapeLabelName(text: string): string {
  if (!text.startsWith(mark)) return text;
  let name = '';
  for (let at = mark.length; at < text.length; ) {
    const [token, hex] = match(escapeSequence, text, at) ?? match(plain, text, at) ?? [];
    if (token === undefined) return text;
    if (!token.startsWith('_')) name += token;
    else if (hex === undefined) name += '_';
    else {
      const point = Number.parseInt(hex, 16);
      if (point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) return text;
      name += String.fromCodePoint(point);
    }
    at += token.length;
  }
  return name;
}

function match(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}
