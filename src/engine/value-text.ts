/**
 * Reads values in ClickHouse's text form, as clients write them into `param_*`: `['a','b\'c']`,
 * `{'k':1}`, `(1,NULL)`. It knows the form, not the types. Texts hold one character per byte.
 */

export interface ValueText {
  /** The items between two brackets, separated by commas. */
  list<Item>(open: string, close: string, item: (index: number) => Item): Item[];
  /** Consumes one mark, or throws. */
  take(mark: string): void;
  /** Consumes `NULL` if it is next. */
  takeNull(): boolean;
  /** One quoted string, unescaped. */
  string(): string;
  /** The same, or one bare number or word. */
  scalar(): string;
  /** Throws when anything is left. */
  end(): void;
}

const gap = /\s*/y;
const bare = /[\w.+-]+/y;
const quoted = /'((?:[^'\\]|\\[\s\S]|'')*)'/y;
const nullWord = /NULL(?!\w)/iy;

/** Every method throws a RangeError where the text is not as asked for. */
export function openValueText(text: string): ValueText {
  let at = 0;

  function find(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found === null) return undefined;
    at = pattern.lastIndex;
    return found;
  }

  function takes(mark: string): boolean {
    find(gap);
    if (text[at] !== mark) return false;
    at++;
    return true;
  }

  function take(mark: string): void {
    if (!takes(mark)) throw new RangeError(`no ${mark} at position ${at + 1}`);
  }

  function quotedString(): string | undefined {
    find(gap);
    const inner = find(quoted)?.[1];
    return inner === undefined ? undefined : unescapeText(inner.replaceAll("''", "'"));
  }

  return {
    take,
    list(open, close, item) {
      take(open);
      const items: ReturnType<typeof item>[] = [];
      if (takes(close)) return items;
      do items.push(item(items.length));
      while (takes(','));
      take(close);
      return items;
    },
    takeNull() {
      find(gap);
      return find(nullWord) !== undefined;
    },
    string() {
      const value = quotedString();
      if (value === undefined) throw new RangeError(`no quoted text at position ${at + 1}`);
      return value;
    },
    scalar() {
      const value = quotedString() ?? find(bare)?.[0];
      if (value === undefined) throw new RangeError(`no value at position ${at + 1}`);
      return value;
    },
    end() {
      find(gap);
      if (at !== text.length) throw new RangeError(`unexpected text at position ${at + 1}`);
    },
  };
}

const controls: Readonly<Record<string, string>> = {
  '0': '\0',
  a: '\x07',
  b: '\b',
  e: '\x1b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  N: '',
};

/**
 * Undoes ClickHouse's escaping (TabSeparated,
 * https://clickhouse.com/docs/interfaces/formats/TabSeparated). Of an unknown escape such as `\d`
 * ClickHouse keeps the backslash; so does this.
 */
export function unescapeText(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replace(/\\(?:x([0-9A-Fa-f]{2})|([\s\S]))/g, (whole, hex?: string, char?: string) => {
    if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
    if (char === undefined) return whole;
    return controls[char] ?? (/[\\'"`/=]/.test(char) ? char : whole);
  });
}
