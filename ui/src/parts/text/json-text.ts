/**
 * Indents JSON without parsing values, so that `9007199254740993` or `1.0` keep their digits. Pure.
 */

export interface JsonLayoutLimits {
  /** Maximum length; longer text is not indented. */
  readonly maxLength: number;
}

/** Deeper levels are not indented further, which bounds the output. */
const maxIndent = 40;
const defaults: JsonLayoutLimits = { maxLength: 8_000_000 };

/** @returns undefined unless the text is a JSON object or array within the limit */
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

export interface JsonPart {
  readonly kind: 'key' | 'string' | 'other' | 'space';
  readonly text: string;
}

/** Splits indented JSON for colouring; after a key and a `space` part follows its value. */
export function splitJson(text: string): JsonPart[] {
  const parts: JsonPart[] = [];
  let from = 0;
  for (const { 0: token, index } of text.matchAll(everyValue)) {
    if (index > from) parts.push({ kind: 'space', text: text.slice(from, index) });
    from = index + token.length;
    const kind = !token.startsWith('"') ? 'other' : text[from] === ':' ? 'key' : 'string';
    parts.push({ kind, text: token });
  }
  if (from < text.length) parts.push({ kind: 'space', text: text.slice(from) });
  return parts;
}

const everyValue = /"[^"\\]*(?:\\.[^"\\]*)*"|[^\s{}[\],:"]+/g;

/** Strings, punctuation, and runs of other characters. */
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
