/**
 * `node scripts/tidy.ts`: the layout rules that neither compiler nor linter knows, over every
 * TypeScript file of the repository. Prints each violation with its replacement and ends with 1
 * when there is one.
 */
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { checkSources } from './tidy/check.ts';
import { toSource, type Source } from './tidy/source.ts';
import { formatViolation } from './tidy/violation.ts';

const repository = fileURLToPath(new URL('..', import.meta.url));

const violations = checkSources(readSources());
for (const violation of violations) console.error(formatViolation(violation));
console.log(`tidy: ${violations.length} violations`);
process.exitCode = violations.length === 0 ? 0 : 1;

function readSources(): Source[] {
  return (
    globSync('{{src,test,bench,scripts}/**/*.ts,ui/src/**/*.{ts,tsx}}', { cwd: repository })
      .map((path) => path.replaceAll('\\', '/'))
      // Generated.
      .filter((path) => path !== 'ui/src/api/schema.d.ts')
      .sort()
      .map((path) => toSource(path, readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')))
  );
}
