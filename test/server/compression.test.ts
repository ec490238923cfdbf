/** Compressed answers of reads: which are compressed, for whom, and with which headers. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { z } from 'zod';
import { jsonResponse, type ReadRoute, StreamedResponse } from '../../src/model/read-route.ts';
import { type Received, transports } from './client.ts';
import { accountId, type Edge, openEdge } from './edge.ts';

/** Characters of one to four bytes, so that some of them would be split between pieces. */
const asValue = (logs: number) => ({
  logs: Array.from({ length: logs }, (_, log) => `log ${log} äöü €€ 😀😀`),
});

async function* chunks() {
  yield 'data: one log\n\n'.repeat(500);
}

const answers: Readonly<Record<string, () => unknown>> = {
  value: () => asValue(1000),
  long: () => asValue(50_000),
  short: () => asValue(3),
  bytes: () => Buffer.from(JSON.stringify(asValue(1000))),
  snappy: () => Buffer.from('snappy'.repeat(1000)),
  stream: () => new StreamedResponse('text/event-stream', chunks()),
};

const reads = Object.entries(answers).map(
  ([name, read]): ReadRoute => ({
    method: 'GET',
    path: `/api/v1/${name}`,
    operationId: name,
    summary: name,
    scope: 'logs:read',
    query: z.strictObject({}),
    response:
      name === 'snappy'
        ? {
            mediaType: 'application/x-protobuf',
            schema: undefined,
            headers: { 'content-encoding': 'snappy' },
          }
        : jsonResponse(z.object({})),
    read: async () => read(),
  }),
);

let edge: Edge;
before(async () => {
  edge = await openEdge({ parts: { reads } });
});
after(() => edge.close());

const decoders = { zstd: zstdDecompressSync, br: brotliDecompressSync, gzip: gunzipSync };

for (const [transport, send] of Object.entries(transports)) {
  const get = async (name: string, accepted?: string, method = 'GET'): Promise<Received> => {
    const received = await send(
      { port: edge.ports.stream, ca: edge.ca },
      {
        method,
        path: `/api/v1/${name}`,
        headers: [
          ['Authorization', 'Bearer wra_reader'],
          ['X-Active-Account', accountId],
          ...(accepted === undefined ? [] : [['Accept-Encoding', accepted] as const]),
        ],
        body: '',
      },
    );
    assert.equal(received.status, 200, received.body);
    assert.match(String(received.headers['vary']), /Accept-Encoding/);
    return received;
  };
  const codingOf = ({ headers }: Received) => headers['content-encoding'];

  for (const [coding, decode] of Object.entries(decoders)) {
    test(`${transport}: compresses values and bytes with ${coding}`, async () => {
      for (const name of ['value', 'long', 'bytes']) {
        const plain = await get(name);
        const packed = await get(name, coding);
        assert.equal(codingOf(packed), coding);
        assert.equal(packed.headers['content-type'], plain.headers['content-type']);
        assert.equal(packed.headers['content-length'], String(packed.bytes.length));
        assert.ok(packed.bytes.length < plain.bytes.length / 4);
        assert.deepEqual(decode(packed.bytes), plain.bytes);
      }
    });
  }

  test(`${transport}: does not compress for clients that do not ask`, async () => {
    for (const accepted of [undefined, '', 'identity', 'deflate', 'gzip;q=0', '*;q=0']) {
      const received = await get('value', accepted);
      assert.equal(codingOf(received), undefined, String(accepted));
      assert.deepEqual(JSON.parse(received.body), asValue(1000));
    }
  });

  test(`${transport}: compresses less than 1 KiB only where identity is refused`, async () => {
    assert.equal(codingOf(await get('short', 'gzip')), undefined);
    const packed = await get('short', 'gzip, identity;q=0');
    assert.equal(codingOf(packed), 'gzip');
    assert.deepEqual(JSON.parse(gunzipSync(packed.bytes).toString()), asValue(3));
  });

  test(`${transport}: HEAD has the headers of the compressed answer`, async () => {
    const packed = await get('value', 'gzip');
    const head = await get('value', 'gzip', 'HEAD');
    assert.equal(codingOf(head), 'gzip');
    assert.equal(head.headers['content-length'], packed.headers['content-length']);
    assert.equal(head.bytes.length, 0);
  });

  test(`${transport}: leaves streams and other media types as they are`, async () => {
    const stream = await get('stream', 'gzip, br, zstd');
    assert.equal(codingOf(stream), undefined);
    assert.match(stream.body, /^data: one log\n/);
    const snappy = await get('snappy', 'gzip, br, zstd');
    assert.equal(codingOf(snappy), 'snappy');
    assert.equal(snappy.body, 'snappy'.repeat(1000));
  });
}
