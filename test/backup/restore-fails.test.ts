/** A restore whose content cannot be moved into the data directory. */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { writeArchive } from '../../src/maintenance/write-archive.ts';
import { restore } from '../../src/maintenance/restore.ts';
import { version } from '../../src/service/version.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';

test('a failed restore leaves nothing in place', async () => {
  const folder = temporaryFolder();
  const { signal } = new AbortController();
  const source = join(folder, 'file');
  writeFileSync(source, 'content');
  const now = new Date().toISOString();
  const about = { format: 1, weirVersion: version, startedAt: now, heldAt: now, holds: [] };
  // This name exists already.
  const files = ['directory.db', 'lost+found/file'].map((path) => ({ source, path, bytes: 7 }));
  await writeArchive(join(folder, 'backup'), { files, about, signal });
  const dataDir = join(folder, 'data');
  mkdirSync(join(dataDir, 'lost+found'), { recursive: true });
  writeFileSync(join(dataDir, 'lost+found', 'other'), '');

  await assert.rejects(restore({ source: join(folder, 'backup'), dataDir, signal }), /ENOTEMPTY/);
  const left = readdirSync(dataDir).filter((name) => !/^(?:lock\.db.*|owner\.pid)$/.test(name));
  assert.deepEqual(left, ['lost+found']);
});
