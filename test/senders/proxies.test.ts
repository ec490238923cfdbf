/** nginx and HAProxy in front of Weir, with the configurations of docs/proxies.md. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { createIngestToken, createReceiver } from '../harness/control.ts';
import { type Service, startService } from '../harness/service.ts';
import { until } from '../harness/until.ts';
import { createExporter, Sender } from './otel-exporters.ts';
import { blocksOf } from './pages.ts';
import { freePort, missing, type Program, startProgram } from './program.ts';

const page = 'docs/proxies.md';
const blocks = blocksOf({ path: page, text: readFileSync(page, 'utf8') });
const [nginx, haproxy, tcp] = ['nginx', 'haproxy', 'haproxy'].map(
  (language, index) =>
    blocks.filter((block) => block.language === language)[index === 2 ? 1 : 0]?.text ?? '',
);

interface Stage {
  readonly service: Service;
  /** Of the proxy. */
  readonly ports: { readonly ingest: number; readonly stream: number };
  close(): Promise<void>;
}

async function openStage(
  text: string,
  flags: readonly string[],
  start: (folder: string, text: string) => Program,
): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-proxies-'));
  const ports = { ingest: await freePort(), stream: await freePort() };
  const plain = { ingest: await freePort(), stream: await freePort() };
  const service = await startService({
    flags: [
      '--proxy-ingest-port',
      String(plain.ingest),
      '--proxy-stream-port',
      String(plain.stream),
      '--ingest-trusted-proxies',
      '127.0.0.1/32',
      ...flags,
    ],
  });
  const tls = join(service.dataDir, 'tls');
  const [cert, key] = ['server.pem', 'server-key.pem'].map((name) => join(tls, name)) as [
    string,
    string,
  ];
  const both = join(folder, 'tls.pem');
  writeFileSync(both, [cert, key].map((file) => readFileSync(file, 'utf8')).join('\n'), {
    mode: 0o600,
  });
  const filled = text
    .replaceAll('/etc/weir/tls.crt', cert)
    .replaceAll('/etc/weir/tls.key', key)
    .replaceAll('/etc/weir/tls.pem', both)
    .replace(/(listen |bind :)443\b/, `$1${ports.ingest}`)
    .replace(/(listen |bind :)8444\b/, `$1${ports.stream}`)
    .replaceAll('127.0.0.1:8080', `127.0.0.1:${plain.ingest}`)
    .replaceAll('127.0.0.1:8081', `127.0.0.1:${plain.stream}`);
  const program = start(folder, filled);
  const stage: Stage = {
    service,
    ports,
    async close() {
      await program.stop();
      await service.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  try {
    await until(async () => (await send(stage, {}).catch(() => undefined)) !== undefined, {
      what: 'the proxy to answer',
    });
  } catch (cause) {
    await stage.close();
    throw new Error(`cannot reach Weir through the proxy: ${program.output()}`, { cause });
  }
  return stage;
}

function startNginx(folder: string, text: string): Program {
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${join(folder, name)};`)
    .join('\n');
  const file = join(folder, 'nginx.conf');
  const log = `error_log stderr; pid ${join(folder, 'nginx.pid')}; daemon off; master_process off;`;
  writeFileSync(file, `${log}\nevents {}\nhttp {\naccess_log off;\n${paths}\n${text}}\n`);
  return startProgram('nginx', ['-p', folder, '-c', file]);
}

function startHaproxy(folder: string, text: string): Program {
  const file = join(folder, 'haproxy.cfg');
  writeFileSync(file, text);
  return startProgram('haproxy', ['-db', '-f', file]);
}

interface Sent {
  readonly receiverId?: string;
  readonly token?: string;
  readonly localAddress?: string;
  readonly body?: string;
}

/** Posts logs through the proxy. @returns the status */
function send({ service, ports }: Stage, sent: Sent): Promise<number> {
  const { caFile, receivers } = service.quickstart;
  const { receiverId = receivers.http_json.receiverId, token = receivers.http_json.token } = sent;
  return new Promise((resolve, reject) => {
    const posted = request({
      host: '127.0.0.1',
      servername: 'localhost',
      port: ports.ingest,
      localAddress: sent.localAddress ?? '127.0.0.1',
      agent: new Agent({ ca: readFileSync(caFile) }),
      method: 'POST',
      path: `/v1/receivers/${receiverId}/logs`,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    });
    posted.on('error', reject);
    posted.on('response', (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
    });
    posted.end(sent.body ?? '[]');
  });
}

const http = (text: string, start: typeof startNginx) => () => openStage(text, [], start);
const proxyProtocol = ['--proxy-proxy-protocol', 'required'];
const stages = [
  { name: 'nginx', skip: missing('nginx', 'nginx-light'), open: http(nginx ?? '', startNginx) },
  { name: 'HAProxy', skip: missing('haproxy', 'haproxy'), open: http(haproxy ?? '', startHaproxy) },
  {
    name: 'HAProxy with the PROXY protocol',
    skip: missing('haproxy', 'haproxy'),
    open: () => openStage(tcp ?? '', proxyProtocol, startHaproxy),
  },
];

for (const { name, skip, open } of stages) {
  suite(name, { skip }, () => {
    let stage: Stage;
    before(async () => {
      stage = await open();
    });
    after(() => stage?.close());

    test('passes a small and a large body', async () => {
      const large = Array.from({ length: 5000 }, (_, index) => ({
        service_name: 'proxied',
        message: `${index} ${'x'.repeat(500)}`,
      }));
      assert.equal(await send(stage, { body: '{"service_name":"proxied","message":"one"}' }), 202);
      assert.equal(await send(stage, { body: JSON.stringify(large) }), 202);
      await until(
        async () => {
          const { values } = await stage.service.facet('service');
          return values.find(({ value }) => value === 'proxied')?.count === 5001;
        },
        { what: 'every log' },
      );
    });

    test('passes gRPC', async () => {
      const url = `https://localhost:${stage.ports.ingest}`;
      const sender = new Sender(createExporter(stage.service, 'grpc', { url }), {
        'service.name': 'proxied-grpc',
      });
      for (let record = 0; record < 20; record++) sender.logger().emit({ body: `log ${record}` });
      const outcomes = await sender.settled();
      await sender.close();
      assert.deepEqual(
        outcomes.map(({ error }) => error),
        outcomes.map(() => undefined),
      );
    });

    test('names the client', async () => {
      const { receiverId } = await createReceiver(stage.service, {
        allowedCidrs: ['127.0.0.9/32'],
      });
      const { token } = await createIngestToken(stage.service, receiverId);
      const from = (localAddress: string) => send(stage, { receiverId, token, localAddress });
      assert.equal(await from('127.0.0.9'), 202);
      assert.equal(await from('127.0.0.8'), 403);
    });

    test('passes reads and the explorer', { skip: name.includes('PROXY') }, async () => {
      const { accessToken, accountId } = stage.service.quickstart;
      const url = `https://localhost:${stage.ports.stream}`;
      const headers = { authorization: `Bearer ${accessToken}`, 'x-active-account': accountId };
      const read = await stage.service.http.send(`${url}/api/v1/logs?limit=1`, { headers });
      assert.equal(read.status, 200, read.text);
      const session = await stage.service.http.send(`${url}/api/v1/session`, {
        method: 'POST',
        headers: {
          authorization: headers.authorization,
          origin: url,
          'x-weir-explorer': '1',
          'sec-fetch-site': 'same-origin',
        },
      });
      assert.ok(session.status < 300, session.text);
    });
  });
}
