/** Checks the syntax of the configurations, and compares them with docs/senders. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import { toReceiverUrls } from '../../../../src/model/receiver-urls.ts';
import { blocksOf, readPages } from '../../../../test/senders/pages.ts';
import { missing } from '../../../../test/senders/program.ts';
import { toJsonLogSnippets } from './json-logs.ts';
import { toLogListenerSnippets, toMetricListenerSnippets } from './listeners.ts';
import { toOtlpSnippets } from './otlp.ts';
import { toPrometheusSnippets } from './prometheus.ts';
import { type Snippet, type SnippetBlock, tokenPlaceholder } from './snippet.ts';
import { toSnippets } from './snippets-of.ts';
import { toOtherLogSnippets, toOtherMetricSnippets } from './other-systems.ts';

const { load } = createRequire(import.meta.url)('js-yaml') as { load: (text: string) => unknown };
const kinds = ['http_json', 'otlp', 'prometheus'] as const;
const receiverId = 'rcv_abc';

/** They have ports of their own, and need no token. */
const ofListeners = ['Syslog', 'Fluent Forward', 'StatsD'];

const folder = mkdtempSync(join(tmpdir(), 'weir-snippets-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const caFile = '/srv/my data/tls/ca.pem';

function snippetsFor(kind: (typeof kinds)[number], ingestUrl: string, token: string): Snippet[] {
  const isHere = ingestUrl.startsWith('https://localhost:');
  const receiver = { kind, ...toReceiverUrls({ kind, receiverId }, ingestUrl) };
  return toSnippets(isHere ? { ...receiver, caFile } : receiver, token);
}

/** For Weir on this machine, and with a publicly trusted certificate. */
const all = ['https://localhost:8443', 'https://weir.example.com'].flatMap((ingestUrl) =>
  kinds.flatMap((kind) =>
    snippetsFor(kind, ingestUrl, tokenPlaceholder).flatMap((snippet) =>
      snippet.blocks.map((block) => ({ kind, ingestUrl, title: snippet.title, ...block })),
    ),
  ),
);

test('lists the senders of each kind of receiver', () => {
  const titles = (kind: (typeof kinds)[number]) =>
    snippetsFor(kind, 'https://weir.example.com', 'wri_x').map(({ title }) => title);
  assert.deepEqual(titles('http_json'), [
    'curl',
    'Node.js',
    'pino',
    'Python',
    'Vector',
    'Fluent Bit',
    'rsyslog',
    'weir send',
    'weir ship',
    'Lines',
    'Loki',
    'Elasticsearch',
    'Splunk',
    'Datadog',
    'GELF',
    'journald',
    'Syslog',
    'Fluent Forward',
  ]);
  assert.deepEqual(titles('otlp'), [
    'OTel Collector',
    'OTel SDK',
    'Node, Python, Java',
    'Fluent Bit',
    'Vector',
    'curl',
  ]);
  assert.deepEqual(titles('prometheus'), [
    'Prometheus',
    'vmagent',
    'OTel Collector',
    'Vector',
    'Fluent Bit',
    'curl (batch jobs)',
    'InfluxDB',
    'StatsD',
  ]);
});

test('every configuration contains the token and the address as issued', () => {
  for (const kind of kinds) {
    for (const { title, blocks } of snippetsFor(kind, 'https://localhost:9443', 'wri_secret')) {
      const text = blocks.map((block) => block.text).join('');
      assert.match(text, /localhost/, title);
      if (ofListeners.includes(title)) {
        assert.match(text, new RegExp(`-receiver ${receiverId}\n`), title);
        continue;
      }
      assert.match(text, /wri_secret/, title);
      assert.match(text, /9443/, title);
      assert.ok(!text.includes(tokenPlaceholder), title);
    }
  }
});

test('names the CA certificate of the receiver', () => {
  for (const kind of kinds) {
    for (const { title, blocks } of snippetsFor(kind, 'https://localhost:8443', 'wri_x')) {
      const isTrusting = blocks.some(({ text }) => text.includes(caFile));
      assert.equal(isTrusting, title !== 'StatsD', title);
    }
    for (const { title, blocks } of snippetsFor(kind, 'https://weir.example.com', 'wri_x')) {
      assert.doesNotMatch(blocks.map(({ text }) => text).join(''), /ca\.pem/, title);
    }
  }
});

suite('syntax', () => {
  test('YAML parses', () => {
    const blocks = all.filter(({ language }) => language === 'yaml');
    assert.ok(blocks.length >= 10);
    for (const { text, title } of blocks) assert.equal(typeof load(text), 'object', title);
  });

  test('shell commands parse', () =>
    check('sh', 'sh', (files) => files.map((file) => ['bash', '-n', file])));

  test('JavaScript parses', () =>
    check('js', 'mjs', (files) => files.map((file) => [process.execPath, '--check', file])));

  test('Python compiles', { skip: missing('python3', 'python3') }, () =>
    check('python', 'py', (files) => [['python3', '-m', 'py_compile', ...files]]),
  );

  test('promtool accepts the Prometheus configuration', {
    skip: missing('promtool', 'prometheus'),
  }, () => {
    for (const [index, { text }] of all.filter(({ title }) => title === 'Prometheus').entries()) {
      const file = write(`prometheus-${index}.yml`, text);
      execFileSync('promtool', ['check', 'config', '--syntax-only', file]);
    }
  });

  test('vmagent accepts its flags', { skip: missing('vmagent', 'victoria-metrics') }, () => {
    const scrapeFile = write('scrape.yml', 'scrape_configs: []\n');
    for (const { text } of all.filter(({ title }) => title === 'vmagent')) {
      const script = text
        .replaceAll('/etc/vmagent/scrape.yml', scrapeFile)
        .replaceAll('/var/lib/vmagent', join(folder, 'vmagent'))
        .replaceAll(caFile, scrapeFile);
      execFileSync('bash', ['-e', '-c', `${script.trimEnd()} -dryRun`], { stdio: 'pipe' });
    }
  });
});

test('agrees with docs/senders', () => {
  const base = 'https://weir.example.com:8443/v1/receivers/RECEIVER_ID';
  const rest = { token: '${WEIR_INGEST_TOKEN}', caFile: '/etc/weir/ca.pem' };
  const documented = readPages()
    .flatMap(blocksOf)
    .map(({ text }) => withTokenInside(text));
  const shown = [
    ...toJsonLogSnippets({ ...rest, url: `${base}/logs` }),
    ...toOtherLogSnippets({ ...rest, url: `${base}/logs` }),
    ...toLogListenerSnippets({ ...rest, url: `${base}/logs` }),
    ...toOtherMetricSnippets({ ...rest, url: `${base}/prometheus/api/v1/write` }),
    ...toMetricListenerSnippets({ ...rest, url: `${base}/prometheus/api/v1/write` }),
    ...toOtlpSnippets({
      ...rest,
      url: `${base}/otlp/v1/logs`,
      metricsUrl: `${base}/otlp/v1/metrics`,
      grpc: 'weir.example.com:8443',
    }),
    ...toPrometheusSnippets({
      ...rest,
      url: `${base}/prometheus/api/v1/write`,
      pushUrl: `${base}/prometheus/metrics`,
    }),
  ];
  const isOurs = /^curl|Node|Python|pino|rsyslog|weir/;
  const blocks = shown
    .filter(({ title }) => !isOurs.test(title))
    .flatMap(({ title, blocks: own }) => own.map(({ text }) => ({ title, text })));
  assert.equal(blocks.length, 31);
  for (const { title, text } of blocks) assert.ok(documented.includes(text), `${title}:\n${text}`);
});

/** The documents read the token from a file if the sender can. */
function withTokenInside(text: string): string {
  return text
    .replaceAll('credentials_file: /etc/weir/token', 'credentials: ${WEIR_INGEST_TOKEN}')
    .replaceAll('filename: /etc/weir/token', 'token: ${WEIR_INGEST_TOKEN}')
    .replaceAll('bearerTokenFile=/etc/weir/token', "bearerToken='${WEIR_INGEST_TOKEN}'")
    .replaceAll('$(cat /etc/weir/token)', '${WEIR_INGEST_TOKEN}')
    .replaceAll(/\bTOKEN\b/g, '${WEIR_INGEST_TOKEN}');
}

function check(
  language: SnippetBlock['language'],
  extension: string,
  commandsOf: (files: string[]) => string[][],
): void {
  const texts = new Set(all.filter((block) => block.language === language).map(({ text }) => text));
  assert.ok(texts.size > 0);
  const files = [...texts].map((text, index) => write(`${language}_${index}.${extension}`, text));
  for (const [program = '', ...args] of commandsOf(files)) execFileSync(program, args);
}

function write(file: string, text: string): string {
  const path = join(folder, file);
  writeFileSync(path, text);
  return path;
}
