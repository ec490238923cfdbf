/** Manifest and checksum files: round trip, newer formats, damage, hostile paths. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  archiveFormat,
  encodeManifest,
  encodeSums,
  type Manifest,
  parseManifest,
  parseSums,
} from './manifest.ts';

const manifest: Manifest = {
  format: archiveFormat,
  weirVersion: '1.2.3',
  startedAt: '2026-11-21T04:02:10.439Z',
  heldAt: '2026-11-21T04:02:10.785Z',
  holds: ['queue', 'store'],
  files: 2,
  bytes: 12,
};
const digest = 'a'.repeat(64);

test('manifest and sums survive a round trip', () => {
  assert.deepEqual(parseManifest(encodeManifest(manifest)), manifest);
  const digests = new Map([
    ['backup.json', digest],
    ['data/queue/segments/1.segment', 'b'.repeat(64)],
    ['data/engine/a file with blanks  twice', 'c'.repeat(64)],
  ]);
  assert.deepEqual(parseSums(encodeSums(digests)), digests);
});

test('distinguishes a newer format from damage', () => {
  const newer = JSON.stringify({ format: archiveFormat + 1, other: 'fields' });
  assert.deepEqual(parseManifest(newer), { newerFormat: archiveFormat + 1 });
  for (const text of ['', '{', '[]', '{"format":1}', JSON.stringify({ ...manifest, files: -1 })]) {
    assert.equal(parseManifest(text), undefined, text);
  }
});

test('rejects sums that are cut, damaged or lead out of the backup', () => {
  const line = (path: string) => `${digest}  ${path}\n`;
  assert.ok(parseSums(line('data/a')));
  const bad = [
    '',
    `${digest}  data/a`,
    `${digest} data/a\n`,
    `${digest.slice(1)}  data/a\n`,
    `${line('data/a')}\n`,
    ...[
      '/etc/passwd',
      '../a',
      'data',
      'data/',
      'data/../../a',
      'data//a',
      'data/./a',
      'other/a',
    ].map(line),
  ];
  for (const text of bad) assert.equal(parseSums(text), undefined, JSON.stringify(text));
});
