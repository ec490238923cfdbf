/** Reads lines of logfmt (https://brandur.org/logfmt). */

const key = /[^\s="]+/y;
/** A value without quotes. */
const word = /[^\s"]*/y;
const space = /\s*/y;
const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' };

/**
 * @param maxPairs reads at most one pair more
 * @returns values by key, "true" for a key alone; undefined if the line has another form
 */
export function readLogfmt(line: string, maxPairs: number): Map<string, string> | undefined {
  const values = new Map<string, string>();
  let hasValue = false;
  for (let at = endOf(space, line, 0); at < line.length; at = endOf(space, line, at)) {
    const keyEnd = endOf(key, line, at);
    if (keyEnd === at) return undefined;
    const name = line.slice(at, keyEnd);
    at = keyEnd;
    let value = 'true';
    if (line[at] === '=') {
      hasValue = true;
      const start = at + 1;
      const isQuoted = line[start] === '"';
      at = isQuoted ? endOfQuoted(line, start) : endOf(word, line, start);
      value = isQuoted ? unquote(line.slice(start + 1, at - 1)) : line.slice(start, at);
    }
    const isEnded = at === line.length || endOf(space, line, at) > at;
    if (!isEnded) return undefined;
    if (values.size > maxPairs) break;
    values.set(name, value);
  }
  return hasValue ? values : undefined;
}

/** @returns the end of the match that begins there, or `at` */
function endOf(pattern: RegExp, line: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(line) ? pattern.lastIndex : at;
}

/**
 * Without an expression, whose stack a value of some megabytes would exceed.
 * @returns the position after the closing quote, or `at` if there is none
 */
function endOfQuoted(line: string, at: number): number {
  for (let end = at + 1; end < line.length; end += 1) {
    if (line[end] === '"') return end + 1;
    if (line[end] === '\\') end += 1;
  }
  return at;
}

function unquote(text: string): string {
  return text.replaceAll(/\\(.)/g, (_all, letter: string) => escapes[letter] ?? letter);
}
