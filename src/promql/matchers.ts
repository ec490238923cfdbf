/** Label matchers. Patterns are RE2, so that their time is linear in the text. */
import { RE2JS } from 're2js';
import type { LabelMatcher } from '../model/metric-plan.ts';

/** @throws Error for an invalid pattern */
export function matches({ type, value }: LabelMatcher, text: string): boolean {
  switch (type) {
    case 'equal':
      return text === value;
    case 'notEqual':
      return text !== value;
    case 'matches':
      return wholePattern(value).testExact(text);
    case 'notMatches':
      return !wholePattern(value).testExact(text);
  }
}

const keys = new WeakMap<readonly LabelMatcher[], string>();

/** Equal exactly for equal matchers in the same order. */
export function matchersKey(matchers: readonly LabelMatcher[]): string {
  let key = keys.get(matchers);
  if (key === undefined) {
    key = JSON.stringify(matchers);
    keys.set(matchers, key);
  }
  return key;
}

const compiled = new Map<string, RE2JS>();
const maxCompiled = 1000;

/** Matches the whole text; `.` matches newlines. @throws Error for an invalid pattern */
export function wholePattern(pattern: string): RE2JS {
  const known = compiled.get(pattern);
  if (known !== undefined) return known;
  // Compiled alone too: `a)|(b` is invalid but valid within brackets.
  RE2JS.compile(pattern);
  const whole = RE2JS.compile(`^(?s:${pattern})$`);
  if (compiled.size >= maxCompiled) compiled.clear();
  compiled.set(pattern, whole);
  return whole;
}

/** A text as a pattern that matches it alone. */
export function quotePattern(text: string): string {
  return RE2JS.quote(text);
}
