/** Exports that no other file imports: dead code, or a name that need not be public. */
import { lineAt, type Source } from './source.ts';
import type { Violation } from './violation.ts';

const declaration =
  /^[ \t]*export (?:abstract |async )*(?:function\*?|const|class|interface|type) (?<name>[\w$]+)/gm;

/**
 * A name counts as used when any other file mentions it as a word; types may also be used inside
 * their own file, since an exported signature needs them.
 */
export function checkExports(sources: readonly Source[]): Violation[] {
  const users = new Map<string, Set<string>>();
  for (const { path, code } of sources) {
    for (const [word] of code.matchAll(/[\w$]+/g)) {
      const paths = users.get(word);
      if (paths === undefined) users.set(word, new Set([path]));
      else paths.add(path);
    }
  }
  return sources
    .filter(({ path }) => /^(?:ui\/)?src\/(?!.*\.d\.ts$)/.test(path))
    .flatMap(({ path, code }) =>
      [...code.matchAll(declaration)].flatMap((match) => {
        const name = match.groups?.['name'] ?? '';
        const isType = /\b(?:interface|type) [\w$]+$/.test(match[0]);
        const isUsed = isType
          ? [...code.matchAll(new RegExp(`\\b${name.replaceAll('$', '\\$')}\\b`, 'g'))].length >
              1 || (users.get(name)?.size ?? 0) > 1
          : (users.get(name)?.size ?? 0) > 1;
        if (isUsed) return [];
        const message = `nobody imports ${name}: drop the export, or the code`;
        return [{ path, line: lineAt(code, match.index), rule: 'unused-export', message }];
      }),
    );
}
