/**
 * A source file as the layout rules see it: its text, the same text with strings and comments
 * blanked, and what it imports. It knows no rule.
 */
import { posix } from 'node:path';

export interface Import {
  /** As written. */
  readonly specifier: string;
  /** Repository path for a relative import, undefined for a package. */
  readonly target: string | undefined;
  /** `import type …` or `export type … from`: erased, so no dependency at run time. */
  readonly typeOnly: boolean;
  readonly line: number;
}

export interface Source {
  /** Relative to the repository, with forward slashes. */
  readonly path: string;
  readonly text: string;
  /** Same length and lines as `text`; comments and the insides of strings are spaces. */
  readonly code: string;
  readonly imports: readonly Import[];
  /** Files that strings may mean, as if they were imported; most of them do not exist. */
  readonly mentions: readonly Import[];
}

export function toSource(path: string, text: string): Source {
  const code = blank(text);
  return {
    path,
    text,
    code,
    imports: importsOf(path, text, code),
    mentions: mentionsOf(path, text),
  };
}

/** One-based line of an offset. */
export function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}

const statement = /^[ \t]*(?:import|export)\b(?<clause>[^;'"]*?)(?:\bfrom\s*)?(?<quote>['"])/gm;
const dynamicImport = /\bimport\s*\(\s*['"]/g;
/**
 * Strings that may name a file, with its ending or before a `${…}`: so workers and processes start.
 */
const fileName = /['"`](?<name>(?:\.{1,2}\/)*[\w/-]+)(?:\.ts['"`]|\$\{)/g;

function importsOf(path: string, text: string, code: string): Import[] {
  const found: Import[] = [];
  const add = (offset: number, typeOnly: boolean) => {
    const specifier = readString(text, offset);
    const target = specifier.startsWith('.')
      ? posix.normalize(posix.join(posix.dirname(path), specifier))
      : undefined;
    found.push({ specifier, target, typeOnly, line: lineAt(text, offset) });
  };
  for (const match of code.matchAll(statement)) {
    const clause = match.groups?.['clause'] ?? '';
    if (clause.includes('=') || clause.includes('(')) continue;
    add(match.index + match[0].length - 1, /^\s+type\b/.test(clause));
  }
  for (const match of code.matchAll(dynamicImport)) add(match.index + match[0].length - 1, false);
  return found;
}

function mentionsOf(path: string, text: string): Import[] {
  return [...text.matchAll(fileName)].map(({ index, groups }) => {
    const target = posix.join(posix.dirname(path), `${groups?.['name'] ?? ''}.ts`);
    return { specifier: target, target, typeOnly: false, line: lineAt(text, index) };
  });
}

function readString(text: string, quoteOffset: number): string {
  const quote = text.charAt(quoteOffset);
  return text.slice(quoteOffset + 1, text.indexOf(quote, quoteOffset + 1));
}

/** Blanks what is no code; a template's `${…}` parts stay code. */
function blank(text: string): string {
  const out = text.split('');
  const hide = (from: number, to: number) => {
    for (let i = from; i < to; i++) if (out[i] !== '\n') out[i] = ' ';
  };
  /** Depth of braces at which each open template expression ends. */
  const templates: number[] = [];
  let depth = 0;
  let at = 0;
  const skipTemplate = () => {
    const end = templateEnd(text, at);
    hide(at, end.offset);
    at = end.offset + end.length;
    if (end.length === 2) templates.push(depth++);
  };
  while (at < text.length) {
    const char = text.charAt(at);
    const end = literalEnd(text, at);
    if (end !== undefined) {
      const isComment = char === '/' && /[/*]/.test(text.charAt(at + 1));
      hide(isComment ? at : at + 1, isComment ? end : end - 1);
      at = end;
    } else if (char === '`') {
      at += 1;
      skipTemplate();
    } else {
      if (char === '{') depth++;
      if (char === '}') depth--;
      at += 1;
      if (char === '}' && templates.at(-1) === depth) {
        templates.pop();
        skipTemplate();
      }
    }
  }
  return out.join('');
}

/**
 * End of the comment, quoted string or regular expression that starts at `at`; undefined where none
 * does.
 */
function literalEnd(text: string, at: number): number | undefined {
  const rest = (pattern: RegExp) => {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    return match === null ? undefined : at + match[0].length;
  };
  switch (text.charAt(at)) {
    case "'":
      return rest(/'(?:[^'\\\n]|\\[\s\S])*'/y);
    case '"':
      return rest(/"(?:[^"\\\n]|\\[\s\S])*"/y);
    case '/': {
      const comment = rest(/\/\/[^\n]*|\/\*[\s\S]*?\*\//y);
      if (comment !== undefined) return comment;
      const before = text.slice(Math.max(0, at - 40), at);
      const startsExpression = /(?:^|[(,=:[!&|?{};+\n]|=>|\breturn)\s*$/.test(before);
      return startsExpression
        ? rest(/\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y)
        : undefined;
    }
    default:
      return undefined;
  }
}

interface TemplateEnd {
  readonly offset: number;
  readonly length: 1 | 2;
}

/**
 * Where a template's text ends from `at` on: at the closing backtick (length 1) or at `${` (length
 * 2).
 */
function templateEnd(text: string, at: number): TemplateEnd {
  const pattern = /(?:[^`\\$]|\\[\s\S]|\$(?!\{))*/y;
  pattern.lastIndex = at;
  const offset = at + (pattern.exec(text)?.[0].length ?? 0);
  return { offset, length: text.charAt(offset) === '$' ? 2 : 1 };
}
