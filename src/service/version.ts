/** The version in package.json, which is beside `src` and `dist`. */
import { readFileSync } from 'node:fs';

const file = new URL('../../package.json', import.meta.url);

export const version = (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
