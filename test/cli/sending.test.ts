/** `weir send` and `weir import` against the real service, with kills and interrupts. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { run } from '../../src/cli/program.ts';
import type { Terminal } from '../../src/cli/terminal.ts';
import type { LogRecord } from '../../src/model/plan.ts';
import { type Service, startService } from '../harness/service.ts';
import { until } from '../harness/until.ts';
import { captureTerminal } from './captured-terminal.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';

const weirFile = fileURLToPath(new URL('../../src/cli/weir.ts', import.meta.url));
const folder = temporaryFolder();
let service: Service;
before(async () => {
  service = await startService({ arePortsKept: true });
});
after(async () => {
  await service.stop();
});

test('a message has the given fields', async () => {
  const flags = ['--severity', 'warn', '--service', 'deploy', '--namespace', 'eu', '--host', 'h1'];
  const { code, error } = await weir(['send', 'deployed\n4.2.0', ...flags, '--label', 'by:ci:7']);
  assert.equal(code, 0, error);
  const [log] = await logsOf('deploy', 1);
  assert.equal(log?.message, 'deployed\n4.2.0');
  const { severity, serviceNamespace, host, labels } = log;
  assert.deepEqual([severity, serviceNamespace, host], ['WARN', 'eu', 'h1']);
  assert.deepEqual(labels, { by: 'ci:7' });
});

test('lines read back in order, events unchanged', async () => {
  const lines = Array.from({ length: 2500 }, (_, index) => `line ${index}`);
  const event = { message: 'own', service_name: 'ordered', host: 'elsewhere', n: 1 };
  const input = [...lines, JSON.stringify(event)].join('\r\n');
  const { code } = await weir(['send', '--service', 'ordered'], { readIn: chunks(input, 777) });
  assert.equal(code, 0);
  const logs = (await logsOf('ordered', 2501)).toReversed();
  assert.deepEqual(
    logs.map(({ message }) => message),
    [...lines, 'own'],
  );
  assert.equal(logs.at(-1)?.host, 'elsewhere');
  assert.deepEqual(logs.at(-1)?.labels, { n: '1' });
});

test('every line is stored once although the gateway was killed', async () => {
  const total = 20_000;
  let restarted = Promise.resolve();
  async function* input(): AsyncGenerator<Uint8Array> {
    for (let line = 0; line < total; line += 100) {
      if (line === total / 2) restarted = service.kill('SIGKILL').then(() => service.start());
      const hundred = Array.from({ length: 100 }, (_, index) => `killed ${line + index}\n`);
      yield Buffer.from(hundred.join(''));
    }
  }
  const argv = ['send', '--service', 'killed', '--json'];
  const { code, out, error } = await weir(argv, { readIn: input() });
  assert.equal(code, 0, error);
  assert.ok((JSON.parse(out) as { retries: number }).retries > 0, 'no request was interrupted');
  await restarted;
  const logs = await logsOf('killed', total);
  assert.equal(new Set(logs.map(({ message }) => message)).size, total);
  assert.equal(logs.length, total);
});

test('imports a file once, plain or compressed, however often it is repeated', async () => {
  const text = Array.from({ length: 6000 }, (_, index) => `row ${index}`).join('\n');
  const files = {
    'a.log': Buffer.from(text),
    'a.log.gz': gzipSync(text),
    'a.log.zst': zstdCompressSync(text),
  };
  const names = Object.keys(files).map((name) => join(folder, name));
  for (const [name, bytes] of Object.entries(files)) writeFileSync(join(folder, name), bytes);
  for (let time = 0; time < 2; time += 1) {
    const { code, error } = await weir(['import', '--service', 'imported', ...names]);
    assert.equal(code, 0, error);
    assert.match(error, /^18,000 lines sent in /);
  }
  assert.equal((await logsOf('imported', 18_000)).length, 18_000);
});

for (const format of ['ndjson', 'csv'] as const) {
  test(`an export as ${format} can be imported again`, async () => {
    const service_name = `export-${format}`;
    const event = {
      message: '=1+1, "quoted"\nand\r\nlong',
      severity: 'ERROR',
      service_name,
      service_namespace: 'eu',
      host: 'h',
      timestamp: '2026-11-20T10:00:00.123456789Z',
      trace_id: '0af7651916cd43dd8448eb211c80319c',
      span_id: 'b7ad6b7169203331',
      labels: { a: 'é', 'k8s.pod.name': 'p1' },
    };
    const { code } = await weir(['send'], { readIn: chunks(JSON.stringify(event), 10) });
    assert.equal(code, 0);
    const [original] = await logsOf(service_name, 1);
    const exported = await weir(['export', '--service', service_name, '--format', format]);
    const file = join(folder, `exported.${format}`);
    writeFileSync(file, exported.out);
    const imported = await weir(['import', file]);
    assert.equal(imported.code, 0, imported.error);
    const [copy, second] = await logsOf(service_name, 2);
    assert.deepEqual(contentOf(copy), contentOf(second));
    assert.deepEqual([copy?.message, second?.message], [event.message, event.message]);
    assert.equal(original?.timestampNanos, copy?.timestampNanos);
  });
}

test('a dry run counts and sends nothing', async () => {
  const file = join(folder, 'dry.log');
  writeFileSync(file, '{"msg":"y"}\n\n{"message":"x","ts":1}\n{"no":"message"}\n');
  const flags = ['--dry-run', '--format', 'ndjson', '--service', 'dry'];
  const { code, out, error } = await weir(['import', ...flags, file]);
  assert.equal(code, 1);
  assert.ok(out.endsWith('2 lines to send, 1 with a timestamp; 1 to be rejected, 1 blank\n'));
  assert.match(error, /line 4: message is missing/);
});

test('reports unreadable input', async () => {
  const broken = join(folder, 'broken.gz');
  writeFileSync(broken, gzipSync('x'.repeat(100_000)).subarray(0, 60));
  assert.match((await weir(['import', broken])).error, /cannot continue: unexpected end of file/);
  assert.match((await weir(['import', join(folder, 'none')])).error, /cannot read .*none: ENOENT/);
  assert.equal((await weir(['import', '--resume', '-'])).code, 2);
  assert.equal((await weir(['send', 'x', '--label', 'host:y'])).code, 2);
});

test('sends a live pipe as it arrives, and Ctrl-C ends it with 130', async () => {
  const child = spawn(process.execPath, [weirFile, 'send', '--service', 'live'], {
    env: { ...process.env, WEIR_DATA: service.dataDir },
  });
  const error = readText(child.stderr);
  const exit = new Promise((resolve) => child.on('exit', resolve));
  child.stdin.write('first\nsecond\nunfinished');
  await logsOf('live', 2);
  child.kill('SIGINT');
  assert.equal(await exit, 130);
  assert.match(await error, /2 lines sent in .*\nweir: interrupted; all lines/);
});

test('shows progress on one line in a terminal only', () => {
  const env = { ...process.env, WEIR_DATA: service.dataDir };
  const send = `'${process.execPath}' '${weirFile}' send --service tty`;
  const shown = join(folder, 'typescript');
  const patience = `until grep -q '500 [s]ent' '${shown}'; do sleep 0.05; done`;
  const command = `(seq 1 500; ${patience}) | ${send}`;
  const script = ['-qefc', command, shown];
  const { stdout: terminal } = spawnSync('script', script, { env, encoding: 'utf8' });
  const drawn = terminal.split('\r\u001b[K');
  assert.ok(
    drawn.some((line) => /^500 sent · [\d,]+\/s$/.test(line)),
    terminal,
  );
  assert.match(drawn.at(-1) ?? '', /^500 lines sent in \d\.\d s · [\d,]+\/s\r?\n$/);
  const pipe = spawnSync('sh', ['-c', `seq 1 500 | ${send}`], { env, encoding: 'utf8' });
  assert.match(pipe.stderr, /^500 lines sent in [\d.]+ s · [\d,]+\/s\n$/);
});

/** What an imported export preserves, besides the message. */
function contentOf(log: LogRecord | undefined): unknown {
  assert.ok(log);
  const { timestampNanos, severity, serviceName, serviceNamespace, host } = log;
  const { labels, kubernetes, traceId, spanId } = log;
  const named = { timestampNanos, severity, serviceName, serviceNamespace, host };
  return { ...named, labels, kubernetes, traceId, spanId };
}

/** Logs of this service name, newest first, once there are this many. */
async function logsOf(serviceName: string, count: number): Promise<LogRecord[]> {
  await until(async () => (await service.facet('service', { serviceName })).total >= count, {
    what: `${count} logs of ${serviceName}`,
  });
  const logs: LogRecord[] = [];
  let cursor: string | undefined;
  for (;;) {
    const page = await service.list({
      serviceName,
      limit: 1000,
      ...(cursor !== undefined && { cursor }),
    });
    logs.push(...page.logs);
    if (page.logs.length < 1000) return logs;
    cursor = `${page.cursor.timestamp},${page.cursor.logId}`;
  }
}

async function* chunks(text: string, length: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

/** Without this process's environment. */
async function weir(argv: readonly string[], world: Partial<Terminal> = {}) {
  const environment = { WEIR_DATA: service.dataDir };
  const terminal = captureTerminal({ environment, ...world });
  const code = await run(argv, terminal);
  return { code, out: terminal.out(), error: terminal.error() };
}
