/** Files that are gone, or cannot be read for a while, as on a failing disk, stop no other. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../../../test/harness/temporary-folder.ts';
import { openCheckpoints } from './checkpoints.ts';
import { ShippedFile } from './ship-file.ts';
import { findRenamed, idAt, openFile, type TailedFile } from './tailed-file.ts';

test('a file is gone, not unreadable, when a file has taken the place of its folder', () => {
  const folder = join(temporaryFolder(), 'folder');
  writeFileSync(folder, '');
  const path = join(folder, 'a.log');
  assert.equal(openFile(path), undefined);
  assert.equal(idAt(path), undefined);
  assert.equal(findRenamed(path, '1:1'), undefined);
});

test('reports a failed read once, and sends the rest when the file is readable', async () => {
  let fault: Error | undefined;
  const read = <T>(value: T): T => {
    if (fault !== undefined) throw fault;
    return value;
  };
  const file: TailedFile = {
    id: '1:1',
    size: () => read(4),
    lines: () => read([{ text: 'one', number: 1, from: 0, end: 4 }]),
    head: (bytes) => read({ bytes, digest: '' }),
    close: () => undefined,
  };
  const position = { path: '/a.log', epoch: 'e', head: { bytes: 0, digest: '' }, offset: 0 };
  const sent: string[] = [];
  const warnings: string[] = [];
  const shipped = new ShippedFile(file, position, openCheckpoints(temporaryFolder()), {
    format: 'none',
    start: undefined,
    toEvents: ({ text, end }) => [{ json: text, isTimed: false, line: 1, endOffset: end }],
    send: async (events) => void sent.push(...events.map(({ json }) => json)),
    lingerMs: 0,
    isEnding: false,
    warn: (sentence) => warnings.push(sentence),
  });
  fault = new Error('EIO: i/o error, read');
  assert.equal(await shipped.step(), false);
  assert.equal(await shipped.step(), false);
  assert.deepEqual(warnings, ['cannot read /a.log, trying again: EIO: i/o error, read']);
  assert.ok(shipped.isUnreadable);
  fault = undefined;
  assert.equal(await shipped.step(), true);
  assert.deepEqual(sent, ['one']);
  assert.ok(!shipped.isUnreadable && shipped.isSent);
});
