/**
 * `npm run lock`: adds the packages of other platforms to package-lock.json. npm omits them when
 * the registry in use does not offer them, and `npm ci` then refuses the lock file on every
 * platform.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { withPlatforms, type Lock } from './lock/platforms.ts';

const file = new URL('../package-lock.json', import.meta.url);
const lock = JSON.parse(readFileSync(file, 'utf8')) as Lock;
writeFileSync(file, `${JSON.stringify(withPlatforms(lock), undefined, 2)}\n`);
