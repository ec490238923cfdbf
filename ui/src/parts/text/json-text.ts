/**
 * Lays JSON out over lines without reading its values: what was `9007199254740993` or `1.0` stays
 * so to the last digit. Pure.
 */

export interface JsonLayoutLimits {
  /** Characters; beyond them the text is left as it is. */
  readonly maxLength: number;
}

/** Layout may not turn a small text into a huge one: deeper levels stand no further in. */
const maxIndent = 40;
const defaults: JsonLayoutLimits = { maxLength: 8_000_000 };

/** @returns undefined for what is no JSON object or array, or grows beyond the limit */
export function layOutJson(text: string, limits = defaults): string | undefined {
  if (!looksLikeJson(text) || !isJson(text)) return undefined;
  const lines: string[] = [];
  let line = '';
  let depth = 0;
  let length = 0;
  const endLine = () => {
    lines.push(line);
    length += line.length + 1;
    line = '  '.repeat(Math.min(depth, maxIndent));
  };
  const tokens = text.matchAll(everyToken);
  let held = tokens.next();
  while (held.done !== true) {
    const token = held.value[0];
    held = tokens.next();
    if (token === '{' || token === '[') {
      const closing = held.value?.[0];
      if (closing === '}' || closing === ']') {
        line += token + closing;
        held = tokens.next();
        continue;
      }
      depth += 1;
      line += token;
      endLine();
    } else if (token === '}' || token === ']') {
      depth -= 1;
      endLine();
      line += token;
    } else if (token === ',') {
      line += token;
      endLine();
    } else line += token === ':' ? ': ' : token;
    if (length > limits.maxLength) return undefined;
  }
  lines.push(line);
  return lines.join('\n');
}

/** Strings whole, punctuation alone, and numbers and words up to what ends them. */
const everyToken = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

function looksLikeJson(text: string): boolean {
  return /^\s*[{[]/.test(text) && /[}\]]\s*$/.test(text);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
