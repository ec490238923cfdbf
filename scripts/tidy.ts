/**
 * `node scripts/tidy.ts`: layout rules that compiler, formatter, linter and knip do not have.
 * Prints each violation and exits with 1 if there is one.
 */
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { findViolations } from './tidy-rules.ts';

const repository = fileURLToPath(new URL('..', import.meta.url));
const generated = ['ui/src/api/schema.d.ts', 'src/query/grammar.ts', 'src/query/grammar-terms.ts'];

const paths = globSync('{{src,test,bench,scripts}/**/*.ts,ui/src/**/*.{ts,tsx}}', {
  cwd: repository,
})
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => !generated.includes(path))
  .sort();
const violations = findViolations(
  paths.map((path) => ({ path, text: readFileSync(`${repository}/${path}`, 'utf8') })),
);
for (const violation of violations) console.error(violation);
console.log(`tidy: ${violations.length} violations`);
process.exitCode = violations.length === 0 ? 0 : 1;
