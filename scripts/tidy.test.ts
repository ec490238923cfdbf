/** Each layout rule finds the file that breaks it, and leaves its lawful neighbour alone. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkSources } from './tidy/check.ts';
import { toSource } from './tidy/source.ts';

const opening = '/** Says what it is for. */\n';
const entry = 'src/cli/weir.ts';

/** The rules that a set of files breaks, as `path rule`. Tests are entries, so none is unused. */
function broken(files: Readonly<Record<string, string>>): string[] {
  const sources = Object.entries(files).map(([path, text]) => toSource(path, opening + text));
  return [...new Set(checkSources(sources).map(({ path, rule }) => `${path} ${rule}`))];
}

interface Case {
  readonly rule: string;
  readonly path: string;
  readonly text: string;
}

const violating: readonly Case[] = [
  { rule: 'direction', path: 'src/queue/disk.test.ts', text: "import '../store/port.ts';" },
  { rule: 'direction', path: 'src/ingest/a.test.ts', text: "import '../queue/disk.ts';" },
  { rule: 'direction', path: 'src/ingest/a.test.ts', text: "import '../stream/list.ts';" },
  { rule: 'direction', path: 'src/ingest/a.test.ts', text: "import '../server/tls.ts';" },
  { rule: 'direction', path: 'src/server/a.test.ts', text: "import '../queue/disk.ts';" },
  { rule: 'direction', path: 'src/store/a.test.ts', text: "import '../ingest/drain.ts';" },
  { rule: 'direction', path: 'src/telemetry/a.test.ts', text: "import '../queue/port.ts';" },
  { rule: 'direction', path: 'src/model/a.test.ts', text: "import '../telemetry/log.ts';" },
  { rule: 'direction', path: 'src/stream/a.test.ts', text: "import '../main.ts';" },
  { rule: 'direction', path: 'src/cli/a.test.ts', text: "import '../store/clickhouse.ts';" },
  {
    rule: 'direction',
    path: 'src/protocols/otlp/a.test.ts',
    text: "import '../json-logs/decode.ts';",
  },
  { rule: 'direction', path: 'ui/src/parts/a.test.ts', text: "import '../app/session.ts';" },
  { rule: 'direction', path: 'ui/src/streams/a.test.ts', text: "import '../tokens/b.tsx';" },
  { rule: 'direction', path: 'ui/src/app/a.test.ts', text: "import '../explore/query.ts';" },
  { rule: 'outside', path: 'ui/src/main.tsx', text: "import '../../src/model/errors.ts';" },
  { rule: 'outside', path: 'src/queue/a.test.ts', text: "import '../../bench/load.ts';" },
  { rule: 'words', path: entry.replace('cli/weir', 'model/a'), text: "import 'node:fs';" },
  { rule: 'alias', path: 'src/queue/a.test.ts', text: "import { x } from '#queue/disk';" },
  { rule: 'ring', path: 'src/queue/a.test.ts', text: "import './a.test.ts';" },
  { rule: 'unused', path: 'src/queue/a.ts', text: 'const a = 1;' },
  { rule: 'unused-export', path: 'src/queue/a.test.ts', text: 'export const lonely = 1;' },
  { rule: 'name', path: 'src/queue/utils.test.ts', text: '' },
  { rule: 'name', path: 'src/helpers/a.test.ts', text: '' },
  { rule: 'name', path: 'src/queue/queue-manager.test.ts', text: '' },
  { rule: 'name', path: 'src/queue/diskLog.test.ts', text: '' },
  { rule: 'columns', path: 'src/queue/a.test.ts', text: `// ${'x'.repeat(98)}` },
  { rule: 'lines', path: 'src/queue/a.ts', text: `${'\n'.repeat(300)}const a = 1;` },
  { rule: 'lines', path: 'src/queue/a.test.ts', text: `${'\n'.repeat(600)}const a = 1;` },
  { rule: 'default-export', path: 'src/queue/a.test.ts', text: 'export default 1;' },
  { rule: 'rename', path: 'src/queue/a.ts', text: "import { open, rename } from 'node:fs';" },
  { rule: 'enum', path: 'src/queue/a.test.ts', text: 'enum Colour { Red }' },
  { rule: 'enum', path: 'src/queue/a.test.ts', text: 'export const enum Colour { Red }' },
  { rule: 'any', path: 'src/queue/a.test.ts', text: 'const a: any = 1;' },
  { rule: 'any', path: 'src/queue/a.test.ts', text: 'const a = b as any;' },
  { rule: 'any', path: 'src/queue/a.test.ts', text: 'const a = new Map<string, any>();' },
  { rule: 'star-export', path: 'src/queue/a.test.ts', text: "export * from './disk.ts';" },
  { rule: 'barrel', path: 'src/queue/a.test.ts', text: "export { open } from './disk.ts';" },
];

for (const { rule, path, text } of violating) {
  test(`${rule}: ${path} with ${text.trim().slice(0, 60)}`, () => {
    assert.ok(broken({ [path]: text }).includes(`${path} ${rule}`));
  });
}

test('opening: a file must say what it is for', () => {
  const rules = checkSources([toSource('src/queue/a.test.ts', 'const a = 1;')]).map((v) => v.rule);
  assert.deepEqual(rules, ['opening']);
});

test('direction: a worker or a process started by its name', () => {
  for (const start of ["new URL('../store/b.ts', base)", 'new URL(`../store/b${ending}`, base)']) {
    const files = { 'src/queue/a.test.ts': `const worker = ${start};`, 'src/store/b.ts': '' };
    assert.deepEqual(broken(files), ['src/queue/a.test.ts direction']);
  }
});

test('a ring over three files is named once, with its way', () => {
  const files = {
    'src/queue/a.test.ts': "import './b.ts';",
    'src/queue/b.ts': "import './c.ts';",
    'src/queue/c.ts': "import './b.ts';",
  };
  const sources = Object.entries(files).map(([path, text]) => toSource(path, opening + text));
  const rings = checkSources(sources).filter(({ rule }) => rule === 'ring');
  assert.equal(rings.length, 1);
  assert.match(rings[0]?.message ?? '', /b\.ts -> src\/queue\/c\.ts -> src\/queue\/b\.ts/);
});

test('a lawful tree breaks no rule', () => {
  const found = broken({
    'src/cli/weir.ts': "import { main } from '../main.ts';\nmain();",
    'src/main.ts': `
      import { openDisk } from './queue/disk.ts';
      import { ingest } from './ingest/ingest.ts';
      export function main() { ingest(openDisk()); }`,
    'src/queue/disk.ts': `
      import type { Batch } from '../model/batch.ts';
      import { Worker } from 'node:worker_threads';
      export const openDisk = () => new Worker(new URL('./writer.ts', import.meta.url));
      const shape: Batch = undefined;`,
    'src/queue/writer.ts': "import type { Queue } from './port.ts';\nconst queue: Queue = 1;",
    'src/queue/port.ts': 'export interface Queue {}',
    'src/model/batch.ts': "import type { z } from 'zod';\nexport type Batch = z.ZodType;",
    'src/ingest/ingest.ts': `
      import type { Queue } from '../queue/port.ts';
      export const ingest = (queue: Queue) => queue;`,
  });
  assert.deepEqual(found, []);
});

test('words inside strings, templates, comments and patterns are not code', () => {
  const text = [
    "const a = 'enum X: any';",
    'const b = `as any ${ `nested : any` } : any`;',
    'const c = /: any "/.test(a); // : any',
    '/* export default */ const d = "\\": any";',
    'const many = { any: 1 };',
  ].join('\n');
  assert.deepEqual(broken({ 'src/queue/a.test.ts': text }), []);
});

test('an import that is only a type makes no ring', () => {
  const found = broken({
    'src/queue/a.test.ts': "import type { B } from './b.ts';\nexport type A = 1;\nlet x: A | B;",
    'src/queue/b.ts': "import type { A } from './a.test.ts';\nexport type B = A;",
  });
  assert.deepEqual(found, []);
});
