/** The rules of `tidy.ts`: names, opening comment, columns, files per folder. Pure. */
import { basename, dirname } from 'node:path';

export interface Source {
  /** Relative to the repository, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

const maxColumns = 100;
const maxFiles = 25;

/** Names that do not describe a file. */
const bannedName = /(?:^|[-/])(?:utils?|helpers?|common|shared|misc|manager|base|v2)(?:[-./]|$)/;

/** @returns `path:line [rule] what is wrong and what to do` */
export function findViolations(sources: readonly Source[]): string[] {
  return [...sources.flatMap(checkFile), ...checkFolders(sources)];
}

function checkFile({ path, text }: Source): string[] {
  const found: string[] = [];
  if (bannedName.test(path)) {
    found.push(`${path}:1 [name] names like utils, helpers or manager are banned: name its export`);
  }
  if (!/^(?:#![^\n]*\n)?(?:\/\*\*|\/\/)/.test(text)) {
    found.push(`${path}:1 [opening] a file begins with one to three sentences: what it is for`);
  }
  for (const [index, line] of text.split('\n').entries()) {
    const columns = Array.from(line).length;
    if (columns <= maxColumns) continue;
    found.push(`${path}:${index + 1} [columns] ${columns} columns: use at most ${maxColumns}`);
  }
  return found;
}

/** Tests do not count: they are beside what they test. */
function checkFolders(sources: readonly Source[]): string[] {
  const counted = sources.filter(({ path }) => {
    return /^(?:ui\/)?src\//.test(path) && !/\.test\.tsx?$/.test(basename(path));
  });
  return [...Map.groupBy(counted, ({ path }) => dirname(path))]
    .filter(([, files]) => files.length > maxFiles)
    .map(
      ([folder, files]) => `${folder}:1 [folder] ${files.length} files: use at most ${maxFiles}`,
    );
}
