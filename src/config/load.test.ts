/** Precedence of the sources, and error messages that list every fault. */
import assert from 'node:assert/strict';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, suite, test } from 'node:test';
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
        assert.match(text, /cannot use --dta: .* did you mean --data\?/);
        return !text.includes('OTHER');
      },
    );
  });
});

/** What is wrong: a variable, or a file. */
const wrong: readonly (readonly [setting: Record<string, string> | string, told: string])[] = [
  [
    { WEIR_INGEST_PORT: '70000' },
    'WEIR_INGEST_PORT = 70000: it takes a whole number from 0 to 65535; default 8443',
  ],
  [
    { WEIR_INGEST_PORT: '' },
    'WEIR_INGEST_PORT = "": it takes a whole number from 0 to 65535; default 8443',
  ],
  [
    { WEIR_DRAIN_MAX_BYTES: '64MB' },
    'WEIR_DRAIN_MAX_BYTES = "64MB": it takes a whole number of bytes from 1048576 (1 MiB) to ' +
      '1073741824 (1 GiB); default 33554432 (32 MiB)',
  ],
  [
    { WEIR_STORE_QUERY_TIMEOUT_SECONDS: '1.5' },
    'WEIR_STORE_QUERY_TIMEOUT_SECONDS = "1.5": it takes a whole number of seconds from 1 to ' +
      '3600; default 30',
  ],
  [
    { WEIR_LOG_LEVEL: 'loud' },
    'WEIR_LOG_LEVEL = "loud": it takes one of debug, info, warn, error, silent',
  ],
  [
    { WEIR_ROLES: 'gateway,writr' },
    '"writr" in WEIR_ROLES: it takes a list of any of gateway, stream, writer, engine, in the ' +
      'file ["…", "…"], elsewhere separated by commas',
  ],
  [
    { WEIR_SYSLOG_TCP: 'everywhere' },
    'WEIR_SYSLOG_TCP = "everywhere": it takes an address such as 0.0.0.0:514, or a port',
  ],
  [
    { WEIR_SYSLOG_UDP: '0.0.0.0:99999' },
    'WEIR_SYSLOG_UDP = "0.0.0.0:99999": it takes an address such as 0.0.0.0:514, or a port',
  ],
  [
    { WEIR_INGEST_TRUSTED_PROXIES: '10.0.0.0/8, 10.0.0.0/99' },
    '"10.0.0.0/99" in WEIR_INGEST_TRUSTED_PROXIES: it takes address ranges such as 10.0.0.0/8 ' +
      'or fd00::/8',
  ],
  [
    { WEIR_ALERTS_ALLOWED_NETWORKS: 'intranet' },
    '"intranet" in WEIR_ALERTS_ALLOWED_NETWORKS: it takes address ranges such as 10.0.0.0/8 or ' +
      'fd00::/8',
  ],
  [
    { WEIR_SYSLOG_TIME_ZONE: 'Berlin' },
    'WEIR_SYSLOG_TIME_ZONE = "Berlin": it takes a time zone such as Europe/Berlin',
  ],
  [
    { WEIR_STORE_INSERT_QUORUM: 'most' },
    'WEIR_STORE_INSERT_QUORUM = "most": it takes auto, or a number from 0 to 999',
  ],
  [
    { WEIR_STORE_URL: 'clickhouse:8123' },
    'WEIR_STORE_URL = "clickhouse:8123": it takes a URL such as http://clickhouse.example.com:8123',
  ],
  [
    { WEIR_STREAM_PUBLIC_URL: 'logs.example.com' },
    'WEIR_STREAM_PUBLIC_URL = "logs.example.com": it takes a URL such as ' +
      'https://weir.example.com:8444',
  ],
  [
    { WEIR_OIDC_ISSUER: 'http://id.example' },
    'WEIR_OIDC_ISSUER = "http://id.example": it takes a URL such as https://id.example.com',
  ],
  [
    { WEIR_DIRECTORY_URL: 'weir:secret@db/weir' },
    'WEIR_DIRECTORY_URL = (hidden): it takes a URL such as ' +
      'postgres://weir@db.example.com/weir?sslmode=verify-full',
  ],
  [
    { WEIR_INGST_PORT: '1' },
    'WEIR_INGST_PORT: there is no such setting; did you mean WEIR_INGEST_PORT?',
  ],
  [
    { WEIR_MAKE_IT_FAST: '1' },
    'WEIR_MAKE_IT_FAST: there is no such setting; weir serve --help lists them',
  ],
  [
    '{"queue":{"segmentByte":1}}',
    'queue.segmentByte of the file: there is no such setting; did you mean queue.segmentBytes?',
  ],
  [
    '{"ingest.port":1}',
    '"ingest.port" of the file: sections are objects, such as {"ingest":{"port":8443}}',
  ],
  ['{"ingest":1}', 'ingest of the file: it takes an object, such as {"host":""}'],
  ['{"data":1}', 'data of the file = 1: it takes a text'],
  ['{"store":{"password":1}}', 'store.password of the file = (hidden): it takes a text'],
  [
    '{"queue":{"urls":"nats://a"}}',
    'queue.urls of the file = "nats://a": it takes a list of texts, in the file ["…", "…"], ' +
      'elsewhere separated by commas',
  ],
  [
    '{"stream":{"port":"8444"}}',
    'stream.port of the file = "8444": it takes a whole number from 0 to 65535; default 8444',
  ],
];
suite('the error for an invalid setting says what is accepted', () => {
  for (const [setting, told] of wrong) {
    test(told, () => {
      const load = (file?: string) => {
        const flags = file === undefined ? [] : ['--config', file];
        loadConfig({ flags, environment: typeof setting === 'string' ? {} : setting });
      };
      const expected = { name: 'ConfigError', message: `cannot use ${told}` };
      if (typeof setting !== 'string') assert.throws(() => load(), expected);
      else withFile(setting, (file) => assert.throws(() => load(file), expected));
    });
  }
});

test('an invalid section is an error even if a variable sets one of its keys', () => {
  for (const section of ['[]', 'null', '1']) {
    withFile(`{"ingest":${section}}`, (file) => {
      assert.throws(
        () => loadConfig({ flags: ['--config', file], environment: { WEIR_INGEST_PORT: '8443' } }),
        { message: 'cannot use ingest of the file: it takes an object, such as {"host":""}' },
      );
    });
  }
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
