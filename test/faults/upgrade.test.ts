/**
 * A data directory of an earlier layout, kept as a fixture: a start on it loses and duplicates
 * nothing. `createDataFolder` of that version created it and returned `expected.json`.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { runCase } from './damage-case.ts';
import type { DataFolder } from './data-folder.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';

const fixture = fileURLToPath(new URL('fixtures/2026-11-22.tar.gz', import.meta.url));
const work = temporaryFolder();

test('opens a data directory of 2026-11-22, including queued batches', async () => {
  execFileSync('tar', ['xzf', fixture, '-C', work]);
  const written = JSON.parse(readFileSync(join(work, 'expected.json'), 'utf8')) as Omit<
    DataFolder,
    'messages' | 'samples'
  > & { messages: string[]; samples: [string, number][] };
  const folder = {
    ...written,
    messages: new Set(written.messages),
    samples: new Map(written.samples),
  };
  const { refused, said, wrong } = await runCase(folder, join(work, 'data'));
  assert.equal(refused, undefined, said.join('\n'));
  assert.deepEqual(wrong, []);
  const expected = ['queue cannot tell a torn end from lost batches: its synced mark is unusable'];
  assert.deepEqual(said, expected, 'this layout has no synced mark yet');
});
