/** The npm package: complete, minimal, and runs without the checkout. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createHttpClient, sendPlain } from '../harness/http.ts';
import { until } from '../harness/until.ts';
import { startWeir } from '../harness/weir-process.ts';

const repository = fileURLToPath(new URL('../..', import.meta.url));

interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}

let folder: string;
let packed: Packed;
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-pack-'));
  const npm = ['pack', '--json', '--loglevel=error', '--pack-destination', folder];
  const output = execFileSync('npm', npm, { cwd: repository, encoding: 'utf8' });
  [packed = { filename: '', files: [] }] = JSON.parse(
    output.slice(output.indexOf('[\n')),
  ) as Packed[];
  execFileSync('tar', ['-xzf', packed.filename], { cwd: folder });
  symlinkSync(join(repository, 'node_modules'), join(folder, 'node_modules'));
});
after(() => rmSync(folder, { recursive: true, force: true }));

test('the package has the built code, its tables and its documents', () => {
  const expected = [
    /^dist\/.*\.(?:js|sql)$/,
    /^ui\/dist\/(?:index\.html|assets\/[^/]+)(?:\.gz|\.br)?$/,
    /^openapi\//,
    /^(?:package\.json|README\.md|LICENSE|CHANGELOG\.md)$/,
  ];
  const others = packed.files
    .map(({ path }) => path)
    .filter((path) => !expected.some((pattern) => pattern.test(path)));
  assert.deepEqual(others, []);
  assert.ok(!packed.files.some(({ path }) => path.includes('.test.')));
});

test('its command prints the version of package.json', () => {
  const { version } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as {
    version: string;
  };
  const printed = execFileSync(
    process.execPath,
    [join(folder, 'package/dist/cli/weir.js'), '--version'],
    {
      encoding: 'utf8',
    },
  );
  assert.equal(printed.trim(), version);
});

test('its server accepts a log and returns it', async () => {
  const data = join(folder, 'data');
  const ports = ['--ingest-port', '0', '--stream-port', '0', '--ops-port', '0'];
  const entry = join(folder, 'package/dist/cli/weir.js');
  const weir = startWeir(['serve', '--data', data, ...ports], {}, entry);
  try {
    const { url, token, ca, opsUrl } = await until(() => readQuickstart(data, weir.exit()), {
      what: 'quickstart.json',
    });
    await until(
      async () => (await sendPlain(`${opsUrl}/readyz`).catch(() => undefined))?.status === 200,
      { what: '/readyz to be 200' },
    );
    const http = createHttpClient(ca);
    const answer = await http.send(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: '{"message":"from the package"}',
    });
    http.close();
    assert.equal(answer.status, 202, answer.text);
  } finally {
    weir.kill('SIGTERM');
    await weir.exited;
  }
  assert.deepEqual(weir.exit(), { code: 0, signal: null });
});

function readQuickstart(data: string, exit: unknown) {
  if (exit !== undefined) throw new Error(`weir ended: ${JSON.stringify(exit)}`);
  try {
    const quickstart = JSON.parse(readFileSync(join(data, 'quickstart.json'), 'utf8')) as {
      opsUrl: string;
      caFile: string;
      receivers: { http_json: { url: string; token: string } };
    };
    const { url, token } = quickstart.receivers.http_json;
    const ca = readFileSync(quickstart.caFile, 'utf8');
    return { url, token, ca, opsUrl: quickstart.opsUrl };
  } catch {
    // Not written yet.
    return undefined;
  }
}
