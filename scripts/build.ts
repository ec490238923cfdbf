/**
 * `npm run build`: `dist/` as in the npm package. The compiler emits JavaScript; this adds other
 * files and rewrites the endings inside `new URL('./x.ts', import.meta.url)`.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const repository = fileURLToPath(new URL('..', import.meta.url));
const dist = join(repository, 'dist');

rmSync(dist, { recursive: true, force: true });
execFileSync('tsc', ['-p', 'tsconfig.build.json'], { cwd: repository, stdio: 'inherit' });
for (const path of globSync('**/*.{sql,json}', { cwd: join(repository, 'src') })) {
  cpSync(join(repository, 'src', path), join(dist, path));
}
for (const path of globSync('**/*.js', { cwd: dist })) {
  const file = join(dist, path);
  const text = readFileSync(file, 'utf8');
  const built = text.replaceAll(
    /(new URL\(\s*'\.[^']*)\.ts('\s*,\s*import\.meta\.url\))/g,
    (_, head: string, tail: string) => `${head}.js${tail}`,
  );
  if (built !== text) writeFileSync(file, built);
}
chmodSync(join(dist, 'cli/weir.js'), 0o755);
