/** Routes without a token, which must be cheap. */
import assert from 'node:assert/strict';
import { after, before, mock, test } from 'node:test';
import { sendPlain } from '../harness/http.ts';
import { transports } from './client.ts';
import { type Edge, openEdge } from './edge.ts';

let edge: Edge;
before(async () => {
  edge = await openEdge();
});
after(() => edge.close());

for (const surface of ['ingest', 'stream'] as const) {
  for (const [name, send] of Object.entries(transports)) {
    const get = (headers: readonly (readonly [string, string])[]) =>
      send(
        { port: edge.ports[surface], ca: edge.ca },
        { method: 'GET', path: '/openapi.json', headers, body: '' },
      );

    test(`${name}, ${surface}: answers 304 if the client has the document`, async () => {
      const first = await get([]);
      assert.equal(first.status, 200);
      const etag = String(first.headers['etag']);
      assert.match(etag, /^W\/".{22}"$/);
      assert.equal(first.headers['cache-control'], 'no-cache');
      const again = await get([['If-None-Match', etag]]);
      assert.equal(again.status, 304);
      assert.equal(again.body, '');
      assert.equal(again.headers['etag'], etag);
      const other = await get([['If-None-Match', '"another"']]);
      assert.equal(other.status, 200);
    });
  }
}

test('generates the document once', async () => {
  const stringify = mock.method(JSON, 'stringify');
  const target = { port: edge.ports.stream, ca: edge.ca };
  const get = () =>
    transports['HTTP/1.1'](target, { method: 'GET', path: '/openapi.json', headers: [], body: '' });
  await get();
  const made = stringify.mock.callCount();
  await get();
  assert.equal(stringify.mock.callCount(), made);
  stringify.mock.restore();
});

test('renders metrics once for concurrent requests', async () => {
  const render = mock.method(edge.metrics, 'metrics');
  const url = `http://127.0.0.1:${edge.ports.ops}/metrics`;
  const answers = await Promise.all(Array.from({ length: 50 }, () => sendPlain(url)));
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
  assert.ok(render.mock.callCount() < 25, `rendered ${render.mock.callCount()} times`);
});

test('renders metrics no earlier than the request', async () => {
  const url = `http://127.0.0.1:${edge.ports.ops}/metrics`;
  const asked = 'weir_http_request_duration_seconds_count';
  const countOf = (text: string) =>
    [...text.matchAll(new RegExp(`^${asked}{.*ops.*metrics.*} (\\d+)$`, 'gm'))]
      .map(([, value]) => Number(value))
      .reduce((sum, value) => sum + value, 0);
  let earlier = countOf((await sendPlain(url)).text);
  for (let count = 0; count < 5; count += 1) {
    const now = countOf((await sendPlain(url)).text);
    assert.equal(now, earlier + 1);
    earlier = now;
  }
});
