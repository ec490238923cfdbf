/** Reads lines of logfmt (https://brandur.org/logfmt). */

/** A key, and a value: in quotes with escapes, or up to the next space. */
const pair = /([^\s="]+)(?:=(?:"((?:[^"\\]|\\.)*)"|([^\s"]*)))?(?=\s|$)/y;
const space = /\s*/y;
const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' };
/** A value of some megabytes exceeds the stack of an expression. */
const maxLength = 2 * 1024 * 1024;

/**
 * @param maxPairs reads at most one pair more
 * @returns values by key, "true" for a key alone; undefined if the line has another form, or is
 *   longer than `maxLength`
 */
export function readLogfmt(line: string, maxPairs: number): Map<string, string> | undefined {
  if (line.length > maxLength) return undefined;
  const values = new Map<string, string>();
  let hasValue = false;
  for (let at = skip(line, 0); at < line.length; at = skip(line, pair.lastIndex)) {
    pair.lastIndex = at;
    const [, key, quoted, plain] = pair.exec(line) ?? [];
    if (key === undefined) return undefined;
    hasValue ||= quoted !== undefined || plain !== undefined;
    if (values.size > maxPairs) break;
    values.set(key, quoted === undefined ? (plain ?? 'true') : unquote(quoted));
  }
  return hasValue ? values : undefined;
}

function skip(line: string, at: number): number {
  space.lastIndex = at;
  space.exec(line);
  return space.lastIndex;
}

function unquote(text: string): string {
  return text.replaceAll(/\\(.)/g, (_all, letter: string) => escapes[letter] ?? letter);
}
