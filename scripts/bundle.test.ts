/**
 * What a browser loads before it shows a page, in bytes as they are sent with gzip, and what it
 * must not load yet.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const dist = fileURLToPath(new URL('../ui/dist', import.meta.url));

/** Of Vite: what is built from each source, by the names that its entries have for each other. */
type Manifest = Readonly<
  Record<
    string,
    {
      readonly file: string;
      readonly imports?: readonly string[];
      readonly css?: readonly string[];
    }
  >
>;

const manifest = JSON.parse(readFileSync(join(dist, '.vite/manifest.json'), 'utf8')) as Manifest;

/** Files that are loaded at once with this one. */
function filesOf(name: string, seen = new Set<string>()): Set<string> {
  const { file, imports = [], css = [] } = manifest[name]!;
  if (seen.has(file)) return seen;
  for (const one of [file, ...css]) seen.add(one);
  for (const one of imports) filesOf(one, seen);
  return seen;
}

function bytesOf(files: Iterable<string>): number {
  return [...files].reduce((sum, file) => {
    const path = join(dist, file);
    return sum + readFileSync(existsSync(`${path}.gz`) ? `${path}.gz` : path).length;
  }, 0);
}

const shell = filesOf('index.html');
const pages = {
  'src/explore/logs-page.tsx': 260_000,
  'src/metrics/metrics-page.tsx': 245_000,
  'src/alerts/alerts-page.tsx': 200_000,
  'src/receivers/receivers-page.tsx': 200_000,
} as const;

/** Texts of CodeMirror and of its PromQL mode, by a module that needs them. */
const markers = {
  'src/parts/editor/yaml-editor.tsx': 'cm-editor',
  'src/metrics/build/promql-editor.tsx': 'multiple different definitions for this metric',
} as const;

test('the shell, which each page needs, is small', () => {
  const bytes = bytesOf(shell);
  assert.ok(bytes <= 170_000, `the shell is ${bytes} bytes with gzip, more than 170,000`);
});

for (const [page, limit] of Object.entries(pages)) {
  const files = filesOf(page, new Set(shell));

  test(`${page} is at most ${limit} bytes with gzip, the shell included`, () => {
    const bytes = bytesOf(files);
    assert.ok(bytes <= limit, `${page} is ${bytes} bytes: load what it needs later by import()`);
  });

  test(`${page} loads editors later`, () => {
    const texts = [...files].map((file) => readFileSync(join(dist, file), 'utf8'));
    for (const marker of Object.values(markers)) {
      assert.ok(!texts.some((text) => text.includes(marker)), `${page} contains ${marker}`);
    }
  });
}

for (const [editor, marker] of Object.entries(markers)) {
  test(`${editor} contains its marker`, () => {
    const texts = [...filesOf(editor)].map((file) => readFileSync(join(dist, file), 'utf8'));
    assert.ok(texts.some((text) => text.includes(marker)));
  });
}
