/** No OTLP JSON body takes more memory than a stated multiple of its size. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type BombName, type BombReport, bombs } from './otlp-json-bomb.ts';

const script = fileURLToPath(new URL('./otlp-json-bomb.ts', import.meta.url));
/** Rows up to their limit, twice while they grow, and compiled code. */
const freeBytes = 96 * 1024 * 1024;
const bytesPerBodyByte = 12;

const outcomes: Record<BombName, number | string> = {
  'resources without records': 0,
  'resources of one record': 174_762,
  'empty values': 0,
  'a resource that is repeated in each row': 'too_large',
  'keys behind nested values': 1,
  'keys again and again': 1,
  'attributes with escapes': 1,
  'bytes that are no text': 0,
};

describe('bounds memory for', () => {
  for (const name of Object.keys(bombs) as BombName[]) {
    test(name, async () => {
      const args = ['--max-semi-space-size=4', script, name];
      const { stdout } = await promisify(execFile)(process.execPath, args);
      const { bodyBytes, grownBytes, outcome } = JSON.parse(stdout) as BombReport;
      assert.equal(outcome, outcomes[name]);
      const bound = freeBytes + bytesPerBodyByte * bodyBytes;
      assert.ok(grownBytes <= bound, `${grownBytes} bytes for a body of ${bodyBytes}`);
    });
  }
});
