/** All layout rules over a set of sources, in the order in which a reader would fix them. */
import { checkExports } from './exports.ts';
import { checkLayout } from './layout.ts';
import type { Source } from './source.ts';
import { checkText } from './text.ts';
import type { Violation } from './violation.ts';

export function checkSources(sources: readonly Source[]): Violation[] {
  return [...checkLayout(sources), ...checkExports(sources), ...sources.flatMap(checkText)].sort(
    (a, b) => a.path.localeCompare(b.path) || a.line - b.line,
  );
}
