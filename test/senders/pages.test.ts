/** The snippets of docs/ work when pasted, as far as this machine has the programs. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { promisify } from 'node:util';
import { weirWords } from '../cli/weir-command.ts';
import { readMetrics } from '../harness/metrics.ts';
import { startService, type Service } from '../harness/service.ts';
import { until } from '../harness/until.ts';
import { createConfiguredExporter, Sender, setEnvironment, transports } from './otel-exporters.ts';
import { createConfiguredMetricExporter, MetricSender } from './otel-metric-exporters.ts';
import { blocksOf, fillIn, linksOf, readPages, type Block } from './pages.ts';
import { missing } from './program.ts';

const run = promisify(execFile);

const pages = readPages();
const blocks = pages.flatMap(blocksOf);
const commands = blocks.filter(({ language }) => language === 'sh');
const curls = commands.filter(({ text }) => /^(?:.* \| )?curl /m.test(text));
const exports = commands.filter(({ text }) => text.startsWith('export OTEL_'));
const vmagents = commands.filter(({ text }) => text.startsWith('vmagent '));
const weirs = commands.filter(({ text }) => /^(?:.* \| )?weir /m.test(text));
const prometheusConfigs = blocks.filter(({ text }) => /^remote_(read|write):/m.test(text));

/** What the commands of the pages send as JSON. */
const backup = { service_name: 'backup', message: 'backup finished' };

let service: Service;
let folder: string;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'weir-pages-'));
  writeFileSync(join(folder, 'app.ndjson'), `${JSON.stringify(backup)}\n`);
  service = await startService();
});
after(async () => {
  await service?.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('finds each page, and tries each command below', () => {
  assert.equal(pages.length, 19, pages.map(({ path }) => path).join(' '));
  const tried = new Set([...curls, ...exports, ...vmagents, ...weirs]);
  assert.deepEqual(
    commands.filter((command) => !tried.has(command)),
    [],
  );
  assert.ok(prometheusConfigs.length >= 2);
});

test('links resolve', () => {
  const links = pages.flatMap(linksOf);
  assert.ok(links.length > 0);
  assert.deepEqual(
    links.filter((link) => !existsSync(link)),
    [],
  );
});

test('lines have at most 120 columns, except tables and commands', () => {
  const long = pages.flatMap(({ path, text }) =>
    text
      .replaceAll(/^```[\s\S]*?^```$/gm, '')
      .split('\n')
      .filter((line) => line.length > 130 && !line.startsWith('|'))
      .map((line) => `${path}: ${line}`),
  );
  assert.deepEqual(long, []);
});

suite('curl', () => {
  for (const block of curls) {
    test(`${block.path}: ${firstLine(block)}`, async () => {
      const { accountId, accessToken, streamUrl, caFile } = service.quickstart;
      const env = { STREAM_URL: streamUrl, TOKEN: accessToken, ACCOUNT: accountId };
      const script = fillIn(block, service, folder).replaceAll(/\bcurl /g, 'curl --fail -sS ');
      await run('bash', ['-e', '-o', 'pipefail', '-c', script], {
        cwd: folder,
        env: { ...process.env, ...env, CURL_CA_BUNDLE: caFile },
      });
    });
  }

  test('the sent data is stored', async () => {
    const logs = await until(
      async () => {
        const page = await service.list({ serviceName: 'backup' });
        return page.logs.length >= 5 && page.logs;
      },
      { what: 'the log of each curl' },
    );
    assert.deepEqual(new Set(logs.map(({ message }) => message)), new Set(['backup finished']));
    const pushed = [
      'backup_last_success',
      'backup_last_success_timestamp_seconds',
      'backup_size_bytes',
    ];
    await until(
      async () => {
        const series = await readMetrics(service, { job: 'backup' });
        return pushed.every((name) => series.some(({ labels }) => labels['__name__'] === name));
      },
      { what: `the metrics ${pushed.join(', ')}` },
    );
  });
});

suite('OpenTelemetry variables', () => {
  for (const [index, block] of exports.entries()) {
    test(`${block.path}: ${firstLine(block)}`, async () => {
      const script = fillIn(block, service, folder);
      const { stdout } = await run('bash', ['-e', '-c', `${script}\nenv`]);
      const environment = Object.fromEntries(
        Array.from(stdout.matchAll(/^(OTEL_\w+)=(.*)$/gm), ([, key = '', value = '']) => [
          key,
          value,
        ]),
      );
      const restore = setEnvironment(environment);
      try {
        const resource = { 'service.name': `page-${index}` };
        if (block.text.includes('OTLP_METRICS')) await sendMetric(environment, resource);
        else await sendLog(environment, resource);
      } finally {
        restore();
      }
    });
  }

  type Texts = Readonly<Record<string, string>>;

  async function sendLog(environment: Texts, resource: Texts): Promise<void> {
    const transport = transportOf(environment['OTEL_EXPORTER_OTLP_LOGS_PROTOCOL']);
    const sender = new Sender(createConfiguredExporter(transport), resource);
    sender.logger().emit({ body: 'hello' });
    const [outcome] = await sender.settled();
    await sender.close();
    assert.equal(outcome?.error, undefined);
  }

  async function sendMetric(environment: Texts, resource: Texts): Promise<void> {
    const transport = transportOf(environment['OTEL_EXPORTER_OTLP_METRICS_PROTOCOL']);
    const sender = new MetricSender(createConfiguredMetricExporter(transport), resource);
    sender.meter.createCounter('hellos').add(1);
    await sender.flush();
    await sender.close();
  }

  function transportOf(said: string | undefined) {
    const transport = transports.find((one) => one === said);
    assert.ok(transport, 'the block has no known protocol');
    return transport;
  }
});

suite('reading', { skip: missing('jq', 'jq') }, () => {
  for (const page of readPages('docs/{reading-logs,exports}.md')) {
    test(page.path, async () => {
      const { accountId, accessToken, streamUrl } = service.quickstart;
      await service.postLogs([backup]);
      const logId = await until(async () => (await service.list({})).logs[0]?.logId, {
        what: 'a log',
      });
      const script = blocksOf(page)
        .filter(({ language }) => language === 'sh')
        .map(({ text }) => text)
        .join('\n')
        .replaceAll('https://localhost:8444', streamUrl)
        .replaceAll('./data/', 'data/')
        .replaceAll(' data/', ` ${service.dataDir}/`)
        .replaceAll('curl -sS', 'curl --fail -sS');
      await run('bash', ['-e', '-c', script], {
        cwd: folder,
        env: { ...process.env, TOKEN: accessToken, ACCOUNT: accountId, LOG_ID: logId },
      });
    });
  }
});

suite('weir', () => {
  const lines = weirs.flatMap(({ text }) => text.trimEnd().split('\n'));
  for (const line of lines) {
    test(`has the command and the options of ${line}`, async () => {
      const [, command, words] = /\bweir (\w+)(.*)$/.exec(line) ?? [];
      assert.ok(command && words !== undefined, 'the line has no command');
      const { stdout } = await run('bash', ['-c', `${weirWords} ${command} --help`]);
      assert.match(stdout, new RegExp(`^Usage: weir ${command} `));
      const options = words.match(/--[\w-]+/g) ?? [];
      assert.deepEqual(
        options.filter((option) => !stdout.includes(option)),
        [],
      );
    });
  }

  test('weir send stores a message', async () => {
    await runWeir('weir send ', (line) => line);
    await untilStored('deploy', 'deployed 4.2.0');
  });

  test('weir ship stores the lines of files', async () => {
    writeFileSync(join(folder, 'access.log'), 'GET / 200\n');
    await runWeir("weir ship '/var/log/nginx/", (line) =>
      `${line} --once`
        .replace('/var/log/nginx/', `${folder}/`)
        .replace('/var/lib/weir-ship', join(folder, 'ship')),
    );
    await untilStored('nginx', 'GET / 200');
  });

  /** Runs the line of the pages that begins like this. */
  async function runWeir(start: string, adapt: (line: string) => string): Promise<void> {
    const { receivers, ingestUrl, caFile } = service.quickstart;
    const line = lines.find((one) => one.startsWith(start));
    assert.ok(line);
    const { receiverId, token } = receivers.http_json;
    await run('bash', ['-c', adapt(line).replace(/^weir/, weirWords)], {
      env: {
        ...process.env,
        WEIR_RECEIVER_URL: `${ingestUrl}/v1/receivers/${receiverId}/logs`,
        WEIR_INGEST_TOKEN: token,
        WEIR_CA_FILE: caFile,
      },
    });
  }

  async function untilStored(serviceName: string, message: string): Promise<void> {
    const page = await until(
      async () => {
        const { logs } = await service.list({ serviceName });
        return logs.length > 0 && logs;
      },
      { what: 'the message' },
    );
    assert.deepEqual(
      page.map((log) => log.message),
      [message],
    );
  }
});

suite('Prometheus', { skip: missing('promtool', 'prometheus') }, () => {
  for (const [index, block] of prometheusConfigs.entries()) {
    test(`${block.path}: ${firstLine(block)}`, async () => {
      const file = join(folder, `prometheus-${index}.yml`);
      writeFileSync(file, fillIn(block, service, folder));
      await run('promtool', ['check', 'config', '--syntax-only', file]);
    });
  }
});

suite('vmagent', { skip: missing('vmagent', 'victoria-metrics') }, () => {
  for (const block of vmagents) {
    test(`${block.path}: ${firstLine(block)}`, async () => {
      const scrapeFile = join(folder, 'scrape.yml');
      writeFileSync(scrapeFile, 'scrape_configs: []\n');
      const script = fillIn(block, service, folder)
        .replaceAll('/etc/vmagent/scrape.yml', scrapeFile)
        .replaceAll('/var/lib/vmagent', join(folder, 'vmagent'));
      await run('bash', ['-e', '-c', `${script.trimEnd()} -dryRun`]);
    });
  }
});

function firstLine({ text }: Block): string {
  return text.split('\n')[0] ?? '';
}
