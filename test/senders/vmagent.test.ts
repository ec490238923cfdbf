/** vmagent scrapes and writes to Weir through an outage; a script pushes like a cron job. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { promisify } from 'node:util';
import { readMetrics, readSamples } from '../harness/metrics.ts';
import { startService, type Service } from '../harness/service.ts';
import { until } from '../harness/until.ts';
import { freePort, missing, startProgram, type Program } from './program.ts';

const run = promisify(execFile);

let service: Service;
let folder: string;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'weir-vmagent-'));
  service = await startService({ arePortsKept: true });
});
after(async () => {
  rmSync(folder, { recursive: true, force: true });
  await service?.stop();
});

suite('vmagent', { skip: missing('vmagent', 'victoria-metrics') }, () => {
  let scrapes = 0;
  let target: Server;
  let agent: Program;
  before(async () => {
    target = createServer((_request, response) => {
      scrapes += 1;
      response.setHeader('content-type', 'text/plain; version=0.0.4');
      response.end(`# TYPE scrape_number counter\nscrape_number{kind="test"} ${scrapes}\n`);
    });
    target.listen(0, '127.0.0.1');
    await once(target, 'listening');
    agent = await startAgent(target);
  });
  after(async () => {
    await agent?.stop();
    target?.close();
  });

  async function startAgent(scraped: Server): Promise<Program> {
    const { caFile, opsUrl, receivers } = service.quickstart;
    const address = scraped.address();
    assert.ok(typeof address === 'object' && address !== null);
    const configFile = join(folder, 'scrape.yml');
    writeFileSync(
      configFile,
      `
global:
  scrape_interval: 250ms
scrape_configs:
  - job_name: test
    static_configs:
      - targets: ['127.0.0.1:${address.port}']
  - job_name: weir
    static_configs:
      - targets: ['${new URL(opsUrl).host}']
`,
    );
    const tokenFile = join(folder, 'token');
    writeFileSync(tokenFile, receivers.prometheus.token, { mode: 0o600 });
    return startProgram('vmagent', [
      `-promscrape.config=${configFile}`,
      `-remoteWrite.url=${receivers.prometheus.writeUrl}`,
      `-remoteWrite.bearerTokenFile=${tokenFile}`,
      `-remoteWrite.tlsCAFile=${caFile}`,
      `-remoteWrite.tmpDataPath=${join(folder, 'buffer')}`,
      '-remoteWrite.flushInterval=100ms',
      `-httpListenAddr=127.0.0.1:${await freePort()}`,
    ]);
  }

  async function scrapesMore(count: number): Promise<void> {
    const wanted = scrapes + count;
    await until(() => scrapes >= wanted, { what: `${count} scrapes:\n${agent.output()}` });
  }

  const stored = () => readSamples(service, { __name__: 'scrape_number', kind: 'test' });

  test('stores each scrape once, in order, through an outage', async () => {
    await until(async () => (await stored()).length > 0, { what: 'the first samples' });
    await service.kill('SIGKILL');
    await scrapesMore(6);
    await service.start();
    await scrapesMore(6);
    const wanted = Array.from({ length: scrapes }, (_, index) => index + 1);
    // Retried blocks arrive after later ones.
    const samples = await until(
      async () => {
        const had = await stored();
        const values = new Set(had.map(([, value]) => value));
        return wanted.every((value) => values.has(value)) && had;
      },
      { what: `scrapes 1 to ${wanted.length} to be stored` },
    ).catch(async (error: unknown) => {
      const values = (await stored()).map(([, value]) => value);
      throw new Error(`stored are ${values.join(' ')}\n${agent.output()}`, { cause: error });
    });
    const values = samples.map(([, value]) => value);
    assert.deepEqual(values.slice(0, wanted.length), wanted);
    const times = samples.map(([time]) => time);
    assert.equal(new Set(times).size, times.length);
  });

  test("stores Weir's own metrics with job and instance", async () => {
    const { host } = new URL(service.quickstart.opsUrl);
    const weir = { name: '__name__', type: '=~', value: 'weir_.+' } as const;
    const series = await readMetrics(service, [weir]);
    assert.ok(series.length > 10, `${series.length} series`);
    for (const { labels } of series) {
      assert.deepEqual(
        { job: labels['job'], instance: labels['instance'] },
        { job: 'weir', instance: host },
      );
    }
  });

  test('nothing was refused', () => {
    assert.doesNotMatch(agent.output(), /status code 4\d\d|dropping|cannot parse/i);
  });
});

suite('curl', () => {
  const exposition = `# HELP node_cpu_seconds_total Seconds the CPUs spent in each mode.
# TYPE node_cpu_seconds_total counter
node_cpu_seconds_total{cpu="0",mode="idle"} 2.6403452e+06
node_cpu_seconds_total{cpu="0",mode="iowait"} 1234.56
# HELP node_filesystem_avail_bytes Filesystem space available to non-root users in bytes.
# TYPE node_filesystem_avail_bytes gauge
node_filesystem_avail_bytes{device="/dev/sda1",fstype="ext4",mountpoint="/"} 1.0534371328e+10
# HELP node_load1 1m load average.
# TYPE node_load1 gauge
node_load1 0.21
# HELP node_textfile_scrape_error 1 if there was an error opening or reading a file, 0 otherwise
# TYPE node_textfile_scrape_error gauge
node_textfile_scrape_error 0
`;

  async function push(body: string, contentType: string): Promise<string> {
    const file = join(folder, 'metrics.prom');
    writeFileSync(file, body);
    const { caFile, receivers } = service.quickstart;
    const headers = {
      Authorization: `Bearer ${receivers.prometheus.token}`,
      'Content-Type': contentType,
    };
    const options = ['--silent', '--show-error', '--write-out', '\n%{http_code}'];
    for (const [name, value] of Object.entries(headers)) options.push('-H', `${name}: ${value}`);
    options.push('--cacert', caFile, '--data-binary', `@${file}`);
    const { stdout } = await run('curl', [...options, receivers.prometheus.pushUrl]);
    return stdout;
  }

  test('pushes a node_exporter file; each sample reads back', async () => {
    const answer = await push(exposition, 'text/plain; version=0.0.4');
    assert.match(answer, /\n202$/);
    const cpu = { __name__: 'node_cpu_seconds_total', mode: 'idle' };
    const samples = await until(
      async () => {
        const had = await readSamples(service, cpu);
        return had.length > 0 && had;
      },
      { what: 'the pushed sample' },
    );
    assert.deepEqual(
      samples.map(([, value]) => value),
      [2_640_345.2],
    );
    const time = samples[0]?.[0];
    assert.deepEqual(await readSamples(service, { __name__: 'node_load1' }), [[time, 0.21]]);
  });

  test('reports line and column of an error and stores nothing of the push', async () => {
    const answer = await push(`pushed_before 1\nbroken{a=} 2\n`, 'text/plain');
    assert.match(answer, /\n400$/);
    assert.match(answer, /line 2/);
    assert.match(answer, /column \d+/);
    assert.deepEqual(await readMetrics(service, { __name__: 'pushed_before' }), []);
  });

  test('answers 415 without a content type', async () => {
    const answer = await push(exposition, 'application/x-www-form-urlencoded');
    assert.match(answer, /\n415$/);
  });
});
