/**
 * `node scripts/build-ui.ts`: generates the types of the API from the OpenAPI document, and builds
 * the explorer, unless they are up to date. Runs before start, check and test.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { globSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build } from 'vite';

const repository = fileURLToPath(new URL('..', import.meta.url));
const ui = join(repository, 'ui');
const dist = join(ui, 'dist');
const stampFile = join(dist, '.inputs');
/** Smaller files gain nothing from compression. */
const minCompressedBytes = 1024;

const inputs = hashInputs();
if (readStamp() !== inputs) {
  const tool = join(ui, 'node_modules/.bin/openapi-typescript');
  const openApi = join(repository, 'openapi/stream.json');
  execFileSync(tool, [openApi, '-o', join(ui, 'src/api/schema.d.ts')], { stdio: 'pipe' });
  await build({ root: ui, configFile: join(ui, 'vite.config.ts'), logLevel: 'warn' });
  compress();
  writeFileSync(stampFile, inputs);
}

/** Hash of all inputs of the build. */
function hashInputs(): string {
  const hash = createHash('sha256');
  const files = [
    'openapi/stream.json',
    'package-lock.json',
    'scripts/build-ui.ts',
    ...globSync('src/{query,model,promql}/**/*.ts', { cwd: repository }),
    ...globSync('ui/{*,src/**/*}', {
      cwd: repository,
      exclude: (path) => /(?:^|\/)(?:node_modules|dist|schema\.d\.ts)$/.test(path),
    }),
  ];
  for (const file of files.sort()) {
    const path = join(repository, file);
    if (!statSync(path).isFile()) continue;
    hash.update(`${file}\n`).update(readFileSync(path));
  }
  return hash.digest('hex');
}

function readStamp(): string | undefined {
  try {
    return readFileSync(stampFile, 'utf8');
  } catch {
    return undefined;
  }
}

/** Beside each file, once, what would otherwise be done for every browser. */
function compress(): void {
  for (const path of globSync('**/*.{html,js,css,svg}', { cwd: dist })) {
    const file = join(dist, path);
    const bytes = readFileSync(file);
    if (bytes.length < minCompressedBytes) continue;
    writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
    const params = { [constants.BROTLI_PARAM_QUALITY]: 9 };
    writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params }));
  }
}
