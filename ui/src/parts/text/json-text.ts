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

export interface JsonEntry {
  /** Keys from the root joined by dots; elements of an array have their index. */
  readonly path: string;
  /** Offset of the key; of an element of an array, its value's. */
  readonly keyAt: number;
  readonly valueAt: number;
  readonly valueEnd: number;
}

interface OpenValue {
  readonly isArray: boolean;
  readonly at: number;
  /** Of the current entry: key or index. */
  key: string;
  keyAt: number | undefined;
  index: number;
}

/** Deeper values have no entry. */
const maxDepth = 12;

/** The keys and values of a JSON text, in the order in which values end. */
export function* jsonEntries(text: string): Generator<JsonEntry> {
  const open: OpenValue[] = [];
  const entry = (valueAt: number, valueEnd: number): JsonEntry[] => {
    const [parent] = open.slice(-1);
    if (parent === undefined || open.length > maxDepth) return [];
    const path = open.map(({ key }) => key).join('.');
    return [{ path, keyAt: parent.keyAt ?? valueAt, valueAt, valueEnd }];
  };
  for (const { 0: token, index: at } of text.matchAll(everyToken)) {
    const parent = open.at(-1);
    if (token === '{' || token === '[') {
      const isArray = token === '[';
      open.push({ isArray, at, key: isArray ? '0' : '', keyAt: undefined, index: 0 });
    } else if (token === '}' || token === ']') {
      open.pop();
      if (parent !== undefined) yield* entry(parent.at, at + 1);
    } else if (token === ',') {
      if (parent === undefined) continue;
      parent.index += 1;
      parent.keyAt = undefined;
      parent.key = String(parent.index);
    } else if (parent !== undefined && !parent.isArray && parent.keyAt === undefined) {
      parent.key = jsonScalar(token);
      parent.keyAt = at;
    } else if (token !== ':') yield* entry(at, at + token.length);
  }
}

/** Strings without quotes and escapes, everything else as it is written. */
export function jsonScalar(token: string): string {
  if (!token.startsWith('"')) return token;
  try {
    return JSON.parse(token) as string;
  } catch {
    return token;
  }
}

/** Characters of a message in which a key is looked for. */
const maxSearched = 100_000;

/** @returns undefined when the text is no JSON, or has no such path */
export function jsonEntry(text: string, path: string): JsonEntry | undefined {
  if (!looksLikeJson(text)) return undefined;
  for (const entry of jsonEntries(text.slice(0, maxSearched))) {
    if (entry.path === path) return entry;
  }
  return undefined;
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
