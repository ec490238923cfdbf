/**
 * The rules that need one file alone: its name, its length, how it opens, and words that must not
 * stand in it.
 */
import { basename } from 'node:path';
import { lineAt, type Source } from './source.ts';
import type { Violation } from './violation.ts';

const maxColumns = 100;
const maxLines = 300;
const maxTestLines = 600;

/** Words that say nothing about what a file is for. */
const bannedName = /(?:^|[-/])(?:utils?|helpers?|common|shared|misc|manager|base|v2)(?:[-./]|$)/;

interface BannedCode {
  readonly rule: string;
  readonly pattern: RegExp;
  readonly message: string;
  /** Where it is banned; default everywhere. */
  readonly where?: RegExp;
}

const bannedCode: readonly BannedCode[] = [
  {
    rule: 'default-export',
    pattern: /^export\s+default\b|^export\s*\{[^}]*\bas\s+default\b/gm,
    message: 'a default export is banned, use a named export',
  },
  {
    rule: 'enum',
    pattern: /^(?:export\s+)?(?:declare\s+)?(?:const\s+)?enum\s/gm,
    message: 'enum is banned, use a union of strings or an `as const` array',
  },
  {
    rule: 'any',
    pattern: /(?:[:<,|&(]|\bas|=>)\s*any\b(?!\s*[(:])/g,
    message: 'any is banned, use unknown and narrow it',
  },
  {
    rule: 'star-export',
    pattern: /^export\s+(?:type\s+)?\*/gm,
    message: 'export * is banned, import from the file that has it',
  },
  {
    rule: 'rename',
    pattern: /^import\s*\{[^}]*\brename(?:Sync)?\b[^}]*\}/gm,
    message: 'a bare rename is not durable, use replaceFile or renameDurably of src/files',
    where: /^src\/(?!files\/|.*\.test\.ts$)/,
  },
];

export function checkText(source: Source): Violation[] {
  return [
    ...checkName(source),
    ...checkOpening(source),
    ...checkLength(source),
    ...checkCode(source),
    ...checkBarrel(source),
  ];
}

function checkName({ path }: Source): Violation[] {
  const isKebab = /^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.test|\.d)?\.tsx?$/.test(basename(path));
  const found: Violation[] = [];
  if (bannedName.test(path)) {
    const message =
      'a name like utils, helpers or manager is banned, use the name of its main export';
    found.push({ path, line: 1, rule: 'name', message });
  }
  if (!isKebab) {
    const message =
      'file names other than kebab-case are banned, use its main export in kebab-case';
    found.push({ path, line: 1, rule: 'name', message });
  }
  return found;
}

function checkOpening({ path, text }: Source): Violation[] {
  if (/^(?:#![^\n]*\n)?(?:\/\*\*|\/\/)/.test(text)) return [];
  const message = 'a file without an opening is banned, use one to three sentences: what it is for';
  return [{ path, line: 1, rule: 'opening', message }];
}

function checkLength({ path, text }: Source): Violation[] {
  const lines = text.trimEnd().split('\n');
  const limit = path.endsWith('.test.ts') ? maxTestLines : maxLines;
  const found: Violation[] = lines.flatMap((line, index) => {
    const columns = Array.from(line).length;
    if (columns <= maxColumns) return [];
    const message = `a line of ${columns} columns is banned, use at most ${maxColumns}`;
    return [{ path, line: index + 1, rule: 'columns', message }];
  });
  if (lines.length > limit) {
    const message = `a file of ${lines.length} lines is banned, use ${limit}: split by meaning`;
    found.push({ path, line: limit + 1, rule: 'lines', message });
  }
  return found;
}

function checkCode({ path, code }: Source): Violation[] {
  return bannedCode
    .filter(({ where }) => where?.test(path) ?? true)
    .flatMap(({ rule, pattern, message }) =>
      [...code.matchAll(pattern)].map((match) => ({
        path,
        line: lineAt(code, match.index),
        rule,
        message,
      })),
    );
}

/** A file that only passes on what others export. */
function checkBarrel({ path, code }: Source): Violation[] {
  const statements = code.split(';').filter((statement) => statement.trim() !== '');
  const isBarrel =
    statements.length > 0 &&
    statements.every((statement) => /^\s*export\b[^=(]*\bfrom\b/.test(statement));
  if (!isBarrel) return [];
  const message = 'a barrel is banned, import from the file that has the name';
  return [{ path, line: 1, rule: 'barrel', message }];
}
