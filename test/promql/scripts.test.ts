/** The evaluator, by scripts for each group of functions and operators. */
import { readdirSync, readFileSync } from 'node:fs';
import { suite, test } from 'node:test';
import { casesOf } from './run-script.ts';

const folder = new URL('scripts/', import.meta.url);

for (const name of readdirSync(folder).sort()) {
  suite(name, () => {
    for (const { name: title, run } of casesOf(readFileSync(new URL(name, folder), 'utf8'))) {
      test(title, run);
    }
  });
}
