/** What a query that cannot be read lacks, as a message with a suggestion. Pure. */
import type { parser } from './grammar.ts';

export type Node = ReturnType<typeof parser.parse>['topNode'];

/** @param top the tree of the text before the position, which the grammar could read */
export function expectedAt(top: Node, text: string, position: number): string {
  const error = firstError(top);
  const { parent, prevSibling: before } = error ?? { parent: null, prevSibling: null };
  if (parent?.name === 'Comparison') {
    const written = shortened(text.slice(parent.from, before?.to ?? position));
    const isSeverity = /^"?(?:severity|level)\b/.test(written);
    const example = `${written}${isSeverity ? 'warn' : written.endsWith(':') ? '*' : '10'}`;
    return `expected a value after ${written} as in ${example}; "${written}" in quotes is a word`;
  }
  if (parent?.name === 'Range') return 'expected a range such as [200 TO 299], with * for no bound';
  if (before !== null && ['OrWord', 'AndWord', 'NotWord'].includes(before.name)) {
    const word = text.slice(before.from, before.to);
    return `expected a term after ${word}; "${word}" in quotes is a word`;
  }
  if (text[position] === ')') {
    const missing = before?.name === 'Open' ? 'a term' : '(';
    return `expected ${missing} before ); ")" in quotes is a parenthesis`;
  }
  const word = shortened(/^\S*/.exec(text.slice(position))![0]);
  if (word !== '') return `expected a term, not ${word}; "${word}" in quotes is a word`;
  if (parent?.name === 'Group' || parent?.name === 'Values') {
    const missing = before?.name === 'Open' ? 'a term and )' : ')';
    return (
      `expected ${missing} for the ( at position ${parent.from + 1}; ` +
      '"(" in quotes is a parenthesis'
    );
  }
  return 'expected a term';
}

function shortened(text: string): string {
  return text.length <= 40 ? text : `${text.slice(0, 40)}…`;
}

/** All are at the end of the text; the innermost comes first. */
function firstError(top: Node): Node | undefined {
  const cursor = top.cursor();
  do if (cursor.type.isError) return cursor.node;
  while (cursor.next());
  return undefined;
}
