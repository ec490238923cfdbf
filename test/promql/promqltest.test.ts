/**
 * The evaluator against Prometheus' own test scripts. PROMQL_TESTS is the folder of them:
 * promql/promqltest/testdata in the sources of Prometheus.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { casesOf } from './run-script.ts';

const { PROMQL_TESTS: folder } = process.env;

suite('scripts of Prometheus', { skip: folder === undefined && 'PROMQL_TESTS is not set' }, () => {
  for (const name of folder === undefined ? [] : readdirSync(folder).sort()) {
    if (!name.endsWith('.test')) continue;
    suite(name, () => {
      for (const { name: title, run } of casesOf(readFileSync(join(folder!, name), 'utf8'))) {
        test(title, run);
      }
    });
  }
});
