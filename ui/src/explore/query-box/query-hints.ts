/** What a query that finds nothing may have meant, as of other query languages. Pure. */
import { parseLogQuery, type Query } from '../../../../src/query/parse.ts';

export interface QueryHint {
  readonly written: string;
  readonly meant: string;
}

/** Words that are searched for in messages although they look like syntax, and `a|b` as a value. */
export function hintsOf(text: string): QueryHint[] {
  try {
    const query = parseLogQuery(text);
    const hints = query === undefined ? [] : hintsIn(query);
    return [...new Map(hints.map((hint) => [hint.written, hint])).values()];
  } catch {
    // The query box says what is wrong.
    return [];
  }
}

function hintsIn(query: Query): QueryHint[] {
  switch (query.kind) {
    case 'and':
      return [...spacedHints(query.items), ...query.items.flatMap(hintsIn)];
    case 'or':
      return query.items.flatMap(hintsIn);
    case 'not':
      return hintsIn(query.item);
    case 'text':
      return hintOfWord(query.pattern.join('*'));
    case 'field': {
      const { key, test } = query;
      const [value = ''] = test.op === 'is' ? test.pattern : [];
      const values = value.split('|');
      if (values.length === 1 || !values.every((one) => /^\w+$/.test(one))) return [];
      return [{ written: `${key}:${value}`, meant: `${key}:(${values.join(' OR ')})` }];
    }
  }
}

/** `status > 500` and `host: a`, which are words. */
function spacedHints(items: readonly Query[]): QueryHint[] {
  const words = items.map((item) => (item.kind === 'text' ? item.pattern.join('*') : ''));
  return words.flatMap((_, at) => {
    const [written] = spaced.exec(words.slice(at, at + 3).join(' ')) ?? [];
    if (written === undefined) return [];
    const meant = written.replace(spaced, (_written, key: string, op: string, value: string) =>
      op === '!=' ? `-${key}:${value}` : `${key}:${op.replace(/^(?::|==?)$/, '')}${value}`,
    );
    return [{ written, meant }];
  });
}

const spaced = /^([\p{L}_][\p{L}\p{N}_.@-]*) ?(:|[<>]=?|==?|!=) ([^\s"]+)/u;

const forms: readonly (readonly [word: RegExp, meant: string])[] = [
  [/^(or|and|not)$/, ''],
  [/^!([\p{L}\p{N}_]\S*)$/u, '-$1'],
  [/^\+([\p{L}_][\p{L}\p{N}_.@-]*:\S+)$/u, '$1'],
  [/^([\p{L}_][\p{L}\p{N}_.@-]*)(?:==?|=~)(\S+)$/u, '$1:$2'],
];

function hintOfWord(word: string): QueryHint[] {
  for (const [form, meant] of forms) {
    if (!form.test(word)) continue;
    return [
      { written: word, meant: meant === '' ? word.toUpperCase() : word.replace(form, meant) },
    ];
  }
  return [];
}
