/**
 * The search language: words that must all occur, `"literal phrases"`, and `-` before what must not
 * occur. Pure.
 */
import type { SearchTerm } from '../model/plan.ts';

const termPattern = /(-?)(?:"([^"]*)(?:"|$)|(\S+))/y;

/**
 * Never fails: a quote that is not closed reaches to the end, and a lone `-` is a word. Empty
 * phrases say nothing. Words and phrases are separated by white space; a quote counts only at the
 * beginning of a term.
 */
export function parseSearch(text: string): SearchTerm[] {
  const terms: SearchTerm[] = [];
  let at = 0;
  for (;;) {
    at += /^\s*/.exec(text.slice(at))![0].length;
    if (at >= text.length) return terms;
    termPattern.lastIndex = at;
    const match = termPattern.exec(text)!;
    at = termPattern.lastIndex;
    const [, minus, phrase, word] = match;
    const term = phrase ?? word ?? '';
    if (term !== '') terms.push({ text: term, exclude: minus === '-' });
  }
}
