/** Where the words of the search occur in a message. Pure, but for the React context. */
import { createContext } from 'react';
import { searchedTexts } from '../terms.ts';

/** What the list was searched for; undefined = nothing to mark. */
export const SearchHits = createContext<RegExp | undefined>(undefined);

/** Matches the words and phrases that a query looks for: substrings, in any case. */
export function toHits(query: string): RegExp | undefined {
  const texts = searchedTexts(query)
    .filter((text) => text !== '')
    // Of two words that begin alike the longer one is marked.
    .toSorted((a, b) => b.length - a.length);
  if (texts.length === 0) return undefined;
  return new RegExp(
    texts.map((text) => text.toWellFormed().replaceAll(syntax, '\\$&')).join('|'),
    'giu',
  );
}

const syntax = /[\\^$.*+?()[\]{}|/]/g;

export interface HitPart {
  readonly text: string;
  readonly isHit: boolean;
}

/** The parts joined are the text. */
export function splitAtHits(text: string, hits: RegExp | undefined): HitPart[] {
  if (hits === undefined) return [{ text, isHit: false }];
  const parts: HitPart[] = [];
  let from = 0;
  for (const { 0: hit, index } of text.matchAll(hits)) {
    if (index > from) parts.push({ text: text.slice(from, index), isHit: false });
    parts.push({ text: hit, isHit: true });
    from = index + hit.length;
  }
  if (from < text.length) parts.push({ text: text.slice(from), isHit: false });
  return parts;
}
