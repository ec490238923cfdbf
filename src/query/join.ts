/** Several queries as one. Pure. */
import { parseLogQuery, type Query } from './parse.ts';
import { printQuery } from './print.ts';

/**
 * Finds the logs that all of these queries find. Parentheses around their texts could change them:
 * the word `main(` takes the closing one.
 * @throws QueryError
 */
export function joinQueries(texts: readonly string[]): string {
  const items = texts.flatMap((text): readonly Query[] => {
    const query = parseLogQuery(text);
    if (query === undefined) return [];
    return query.kind === 'and' ? query.items : [query];
  });
  const [first, ...more] = items;
  if (first === undefined) return '';
  return printQuery(more.length === 0 ? first : { kind: 'and', items });
}
