/** Runs files of test/store again, with the store on a cluster. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

export function testOnCluster(files: readonly string[]): void {
  for (const name of files) {
    test(`test/store/${name} on a cluster`, async () => {
      const file = fileURLToPath(new URL(`../store/${name}.test.ts`, import.meta.url));
      const flags = ['--test', '--test-reporter=tap'];
      const { NODE_TEST_CONTEXT: _, ...env } = process.env;
      const child = spawn(process.execPath, [...flags, file], {
        env: { ...env, WEIR_TEST_STORE: 'cluster' },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const ended = once(child, 'close') as Promise<[number | null]>;
      const text = Buffer.concat((await child.stdout.toArray()) as Buffer[]).toString();
      const [code] = await ended;
      assert.equal(code, 0, text);
      assert.match(text, /^# pass [1-9]/m);
    });
  }
}
