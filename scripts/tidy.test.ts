/** Each layout rule reports a violation and accepts valid files. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { findViolations } from './tidy-rules.ts';
import { temporaryFolder } from '../test/harness/temporary-folder.ts';

const opening = '/** Says what it is for. */\n';

const violating: readonly (readonly [rule: string, path: string, text: string])[] = [
  ['name', 'src/queue/utils.ts', opening],
  ['name', 'src/helpers/a.ts', opening],
  ['name', 'src/queue/queue-manager.ts', opening],
  ['opening', 'src/queue/a.ts', 'const a = 1;'],
  ['columns', 'src/queue/a.ts', `${opening}// ${'x'.repeat(98)}`],
];

for (const [rule, path, text] of violating) {
  test(`tidy reports ${rule}: ${path}`, () => {
    const found = findViolations([{ path, text }]);
    assert.ok(
      found.some((line) => line.startsWith(path) && line.includes(`[${rule}]`)),
      found.join('\n'),
    );
  });
}

test('tidy reports a folder of 26 files, tests not counted', () => {
  const files = (count: number) =>
    Array.from({ length: count }, (_, n) => ({ path: `src/queue/f${n}.ts`, text: opening }));
  assert.deepEqual(
    findViolations([...files(25), { path: 'src/queue/a.test.ts', text: opening }]),
    [],
  );
  assert.equal(findViolations(files(26)).length, 1);
});

/** Imports by file; the linter must report the marked ones. */
const imports: readonly (readonly [path: string, specifier: string, isWrong: boolean])[] = [
  ['src/model/a.ts', '../std/semaphore.ts', true],
  ['src/std/a.ts', '../model/errors.ts', false],
  ['src/telemetry/a.ts', '../queue/port.ts', true],
  ['src/queue/disk/a.ts', '../../store/port.ts', true],
  ['src/queue/disk/b.ts', '../../model/errors.ts', false],
  ['src/store/a.ts', '../ingest/drain.ts', true],
  ['src/ingest/a.ts', '../queue/disk/log.ts', true],
  ['src/ingest/b.ts', '../queue/port.ts', false],
  ['src/ingest/c.ts', '../stream/list.ts', true],
  ['src/ingest/d.ts', '../server/tls.ts', true],
  ['src/server/a.ts', '../queue/disk/log.ts', true],
  ['src/server/b.ts', '../ingest/ingest.ts', false],
  ['src/stream/a.ts', '../main.ts', true],
  ['src/stream/b.ts', '../service/serve.ts', true],
  ['src/cli/a.ts', '../store/clickhouse.ts', true],
  ['src/cli/b.ts', '../main.ts', false],
  ['src/protocols/otlp/a.ts', '../json-logs/decode.ts', true],
  ['src/queue/a.ts', '../../bench/load.ts', true],
  ['src/queue/b.ts', '../../test/harness/until.ts', true],
  ['src/queue/c.test.ts', '../../test/harness/until.ts', false],
  ['src/service/a.ts', '../queue/disk/log.ts', false],
  ['ui/src/parts/a.ts', '../app/session.ts', true],
  ['ui/src/streams/a.ts', '../tokens/b.tsx', true],
  ['ui/src/streams/b.ts', '../parts/b.tsx', false],
];

test('the linter enforces layers and finds rings', () => {
  const repository = fileURLToPath(new URL('..', import.meta.url));
  const folder = temporaryFolder();
  cpSync(join(repository, 'oxlint.config.ts'), join(folder, 'oxlint.config.ts'));
  symlinkSync(join(repository, 'node_modules'), join(folder, 'node_modules'));
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  for (const [path, specifier] of imports) write(path, `import '${specifier}';\n`);
  for (const name of ['json-logs/decode.ts', 'otlp/decode.ts']) write(`src/protocols/${name}`, '');
  write('ui/src/tokens/b.tsx', '');
  // A ring of type imports.
  write('src/codec/a.ts', "import type { B } from './b.ts';\nexport type A = B | 1;\n");
  write('src/codec/b.ts', "import type { A } from './a.ts';\nexport type B = A[];\n");

  const { stdout } = spawnSync(
    process.execPath,
    [join(repository, 'node_modules/oxlint/bin/oxlint'), '--format=unix'],
    { cwd: folder, encoding: 'utf8' },
  );
  const reported = (path: string, rule: string) =>
    stdout.split('\n').some((line) => line.includes(`${path}:`) && line.includes(rule));
  for (const [path, specifier, isWrong] of imports) {
    const found = reported(path, 'no-restricted-imports') || reported(path, 'restricted');
    assert.equal(found, isWrong, `${path} imports ${specifier}\n${stdout}`);
  }
  assert.ok(reported('src/codec/a.ts', 'ycle'), stdout);
});
