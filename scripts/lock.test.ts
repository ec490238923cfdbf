/** The lock file names the packages of every platform; `npm ci` refuses it otherwise. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { missingPlatforms, withPlatforms, type Lock } from './lock/platforms.ts';

const half: Lock = {
  packages: {
    '': {},
    'node_modules/tool': {
      version: '1.0.0',
      dev: true,
      optionalDependencies: { '@tool/linux-x64-musl': '1.0.0', '@tool/darwin-arm64': '1.0.0' },
    },
    'node_modules/@tool/darwin-arm64': { version: '1.0.0', dev: true },
  },
};

test('package-lock.json is complete (npm run lock)', () => {
  const text = readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8');
  assert.deepEqual(missingPlatforms(JSON.parse(text) as Lock), []);
});

test('adds a missing platform', () => {
  assert.deepEqual(missingPlatforms(half), [
    { name: '@tool/linux-x64-musl', version: '1.0.0', dev: true },
  ]);
  const whole = withPlatforms(half);
  assert.deepEqual(missingPlatforms(whole), []);
  assert.deepEqual(whole.packages['node_modules/@tool/linux-x64-musl'], {
    version: '1.0.0',
    dev: true,
    optional: true,
    os: ['linux'],
    cpu: ['x64'],
    libc: ['musl'],
  });
});
