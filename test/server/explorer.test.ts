/** The explorer's files on the stream port: paths, compression, caching, security headers. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { transports } from './client.ts';
import { type Edge, openEdge } from './edge.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';

const page = '<!doctype html><title>Weir</title>';
const script = 'console.log(1);';

const directory = temporaryFolder();
let edge: Edge;
let bare: Edge;
before(async () => {
  mkdirSync(join(directory, 'assets'));
  writeFileSync(join(directory, 'index.html'), page);
  writeFileSync(join(directory, 'assets/index-abc.js'), script);
  writeFileSync(join(directory, 'assets/index-abc.js.gz'), gzipSync(script));
  writeFileSync(join(directory, 'secret.txt'), 'not a page');
  edge = await openEdge({ server: { explorerDirectory: directory } });
  bare = await openEdge();
});
after(async () => {
  await edge.close();
  await bare.close();
});

for (const [name, send] of Object.entries(transports)) {
  const get = (path: string, headers: readonly (readonly [string, string])[] = []) =>
    send({ port: edge.ports.stream, ca: edge.ca }, { method: 'GET', path, headers, body: '' });

  test(`${name}: serves every page from one file with a strict CSP`, async () => {
    for (const path of ['/', '/explore/logs', '/explore/metrics?metric=up', '/receivers/rcv_1']) {
      const answer = await get(path);
      assert.equal(answer.status, 200, path);
      assert.equal(answer.body, page);
      assert.equal(answer.headers['content-type'], 'text/html; charset=utf-8');
      assert.equal(answer.headers['cache-control'], 'no-cache');
      const policy = String(answer.headers['content-security-policy']).split('; ');
      assert.ok(policy.includes("default-src 'none'"));
      assert.ok(policy.includes("script-src 'self'"));
      assert.ok(policy.includes("frame-ancestors 'none'"));
      assert.ok(!policy.some((rule) => /unsafe|\*|https?:|data:/.test(rule)), policy.join('; '));
      assert.equal(answer.headers['x-content-type-options'], 'nosniff');
      assert.equal(answer.headers['referrer-policy'], 'no-referrer');
    }
  });

  test(`${name}: serves compressed assets if accepted, cacheable forever`, async () => {
    const plain = await get('/assets/index-abc.js');
    assert.equal(plain.body, script);
    assert.equal(plain.headers['content-encoding'], undefined);
    const packed = await get('/assets/index-abc.js', [['Accept-Encoding', 'gzip, deflate, br']]);
    assert.equal(packed.headers['content-encoding'], 'gzip');
    assert.equal(gunzipSync(packed.bytes).toString(), script);
    assert.match(String(packed.headers['cache-control']), /immutable/);
    assert.equal(packed.headers['vary'], 'Accept-Encoding');
    for (const refusal of ['gzip;q=0', 'br, GZIP ; q=0.000', 'x-gzip']) {
      const sent = await get('/assets/index-abc.js', [['Accept-Encoding', refusal]]);
      assert.equal(sent.headers['content-encoding'], undefined, refusal);
      assert.equal(sent.body, script);
    }
  });

  test(`${name}: answers 304 if the browser has the file`, async () => {
    const { headers } = await get('/');
    const etag = String(headers['etag']);
    for (const known of [etag, etag.replace('W/', ''), `"other", ${etag}`, '*']) {
      const again = await get('/', [['If-None-Match', known]]);
      assert.equal(again.status, 304, known);
      assert.equal(again.body, '');
    }
    assert.equal((await get('/', [['If-None-Match', '"other"']])).status, 200);
  });

  test(`${name}: answers 404 for other pages and files`, async () => {
    const paths = [
      '/explore',
      '/index.html',
      '/secret.txt',
      '/assets/index-abc.js.gz',
      '/assets/secret.txt',
      '/assets/..%2fsecret.txt',
      '/assets/../../package.json',
      '/assets/',
      '/assets/none.js',
    ];
    for (const path of paths) assert.equal((await get(path)).status, 404, path);
  });

  test(`${name}: answers 404 with the explorer to a browser at an unknown path`, async () => {
    const accept = ['Accept', 'text/html,application/xhtml+xml;q=0.9'] as const;
    for (const path of ['/explore', '/receivers/a/b', '/index.html']) {
      const answer = await get(path, [accept]);
      assert.equal(answer.status, 404, path);
      assert.equal(answer.body, page);
      assert.equal(answer.headers['content-type'], 'text/html; charset=utf-8');
      assert.match(String(answer.headers['content-security-policy']), /script-src 'self'/);
      assert.equal(answer.headers['cache-control'], 'private, no-store');
    }
    for (const path of ['/api', '/api/v1/log', '/assets/none.js']) {
      const answer = await get(path, [accept]);
      assert.equal(answer.status, 404, path);
      assert.equal(answer.headers['content-type'], 'application/problem+json');
    }
  });
}

for (const [name, send] of Object.entries(transports)) {
  test(`${name}: answers 405 to other methods`, async () => {
    const target = { port: edge.ports.stream, ca: edge.ca };
    for (const path of ['/', '/explore/logs', '/assets/index-abc.js']) {
      const answer = await send(target, { method: 'DELETE', path, headers: [], body: '' });
      assert.equal(answer.status, 405, path);
      assert.equal(answer.headers['allow'], 'GET, HEAD, OPTIONS');
    }
  });
}

test('answers 503 if the explorer is not built', async () => {
  const target = { port: bare.ports.stream, ca: bare.ca };
  for (const [name, send] of Object.entries(transports)) {
    const answer = await send(target, { method: 'GET', path: '/', headers: [], body: '' });
    assert.equal(answer.status, 503, name);
    assert.match(answer.body, /it is not built; start Weir with npm start/);
  }
});
