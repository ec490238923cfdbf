/** Compares versions by number. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareVersions, installedEngineVersion } from './data-directory.ts';

const ordered = ['3.4.0', '3.4.1', '3.10.0', '4', '26.7.2.1', '26.7.3-stable.1'];

for (const [at, older] of ordered.entries()) {
  for (const newer of ordered.slice(at + 1)) {
    test(`${older} is older than ${newer}`, () => {
      assert.ok(compareVersions(older, newer) < 0);
      assert.ok(compareVersions(newer, older) > 0);
    });
  }
}

test('counts missing numbers as zero', () => assert.equal(compareVersions('3.4', '3.4.0'), 0));

test('reads the version of this installation', () =>
  assert.match(installedEngineVersion(), /^\d+\.\d+/));
