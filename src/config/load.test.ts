/** Precedence of the sources, and error messages that list every fault. */
import assert from 'node:assert/strict';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { ConfigError, loadConfig } from './load.ts';
import { configReference } from './reference.ts';
import { listSettings } from './settings.ts';
import { temporaryFolder } from '../../test/harness/temporary-folder.ts';

function withFile(text: string, run: (file: string) => void): void {
  const folder = temporaryFolder();
  const file = join(folder, 'weir.json');
  writeFileSync(file, text);
  run(file);
}

describe('precedence', () => {
  test('flags override the environment, the file and the default', () => {
    withFile('{"ingest":{"port":1},"stream":{"port":1},"ops":{"port":1}}', (file) => {
      const config = loadConfig({
        flags: ['--config', file, '--ingest-port=3'],
        environment: { WEIR_INGEST_PORT: '2', WEIR_STREAM_PORT: '2' },
      });
      assert.deepEqual([config.ingest.port, config.stream.port, config.ops.port], [3, 2, 1]);
      assert.equal(config.drain.maxRows, 1_000_000);
    });
  });

  test('splits lists at commas in flags and variables', () => {
    const environment = { WEIR_INGEST_TRUSTED_PROXIES: '10.0.0.0/8, ::1/128' };
    const config = loadConfig({ flags: [], environment });
    assert.deepEqual(config.ingest.trustedProxies, ['10.0.0.0/8', '::1/128']);
  });

  test('freezes the configuration', () => {
    const config = loadConfig({ flags: [], environment: {} });
    assert.throws(() => Object.assign(config.ingest, { port: 1 }), TypeError);
  });
});

test('lists every fault with the name under which the value was set', () => {
  withFile('{"queue":{"segments":1},"drain":{"maxRows":0}}', (file) => {
    assert.throws(
      () =>
        loadConfig({
          flags: ['--config', file, '--ingest-port', '70000', '--dta', 'x', 'stray'],
          environment: { WEIR_LOG_LEVEL: 'loud', WEIR_INGST_PORT: '1', OTHER: 'x' },
        }),
      (error) => {
        assert.ok(error instanceof ConfigError);
        const text = error.message;
        for (const part of ['segments', 'drain.maxRows', '--ingest-port', '70000', '--dta']) {
          assert.ok(text.includes(part), `${part} in ${text}`);
        }
        for (const part of ['"stray"', 'WEIR_LOG_LEVEL', 'loud', 'WEIR_INGST_PORT']) {
          assert.ok(text.includes(part), `${part} in ${text}`);
        }
        assert.match(text, /cannot use --dta: .* weir serve --help lists them/);
        return !text.includes('OTHER');
      },
    );
  });
});

test('accepts the variables of every command beside its own', () => {
  const sources = globSync('src/cli/**/*.ts').map((file) => readFileSync(file, 'utf8'));
  const names = new Set(sources.flatMap((text) => text.match(/\bWEIR_[A-Z_]+\b/g) ?? []));
  assert.ok(names.size > 5);
  const settings = new Set(listSettings().map(({ environment }) => environment));
  const others = [...names].filter((name) => !settings.has(name));
  const environment = Object.fromEntries(others.map((name) => [name, 'x']));
  assert.doesNotThrow(() =>
    loadConfig({ flags: [], environment: { ...environment, WEIR_CONFIG: undefined } }),
  );
});

test('names a file that does not hold a JSON object', () => {
  withFile('[1]', (file) => {
    assert.throws(() => loadConfig({ flags: ['--config', file], environment: {} }), /JSON object/);
  });
  const missing = { flags: ['--config', '/nowhere/weir.json'], environment: {} };
  assert.throws(() => loadConfig(missing), /cannot read file \/nowhere\/weir.json/);
});

test('the reference describes every setting', () => {
  const reference = configReference()
    .map((page) => page.text)
    .join('\n');
  for (const setting of listSettings()) {
    assert.match(setting.description, /\.$/, setting.key);
    assert.ok(reference.includes(setting.flag) && reference.includes(setting.environment));
  }
});
