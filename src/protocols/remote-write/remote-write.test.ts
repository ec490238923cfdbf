/** Answers of remote_write. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { configSchema } from '../../config/schema.ts';
import type { Batch } from '../../model/batch.ts';
import { type BodyFormat, capsOf } from '../../model/protocol.ts';
import { createRemoteWrite } from './remote-write.ts';

const [v1, v2] = createRemoteWrite(
  configSchema.parse({
    ingest: { remoteWriteMaxBodyBytes: 100, remoteWriteMaxInflatedBytes: 400 },
  }),
);
const format: BodyFormat = {
  mediaType: 'application/x-protobuf',
  parameters: new Map(),
  coding: 'snappy',
};

function batchOf(changes: Partial<Batch>): Batch {
  return {
    layout: 'metrics/1',
    rows: 10,
    payload: Buffer.alloc(0),
    rejected: [],
    rejectedCount: 0,
    rejectedByReason: new Map(),
    written: { samples: 5, histograms: 3, exemplars: 2, metadata: 0 },
    ...changes,
  };
}

const written = {
  'x-prometheus-remote-write-samples-written': '5',
  'x-prometheus-remote-write-histograms-written': '3',
  'x-prometheus-remote-write-exemplars-written': '2',
};

for (const { protocol, headers } of [
  { protocol: v1, headers: {} },
  { protocol: v2, headers: { headers: written } },
]) {
  describe(`the answer of ${protocol.name}`, () => {
    test('is 204 without a body', () => {
      const reply = protocol.reply(batchOf({}), format);
      assert.deepEqual(reply, { status: 204, contentType: undefined, body: '', ...headers });
    });

    test('is 400 with one line about the rejected and the stored records', () => {
      const rejectedByReason = new Map([
        ['no metric name', 2],
        ['too many labels', 1],
      ]);
      const rejected = [
        { index: 7, reason: 'no metric name: {a="b"}' },
        { index: 9, reason: 'too many labels' },
      ];
      const batch = batchOf({ rejected, rejectedCount: 3, rejectedByReason });
      assert.deepEqual(protocol.reply(batch, format), {
        status: 400,
        contentType: 'text/plain; charset=utf-8',
        body:
          'cannot store 3 of 13 records (2 no metric name, 1 too many labels), ' +
          'the other 10 are stored; time series 7: no metric name: {a="b"}\n',
        ...headers,
      });
    });

    test('reports that nothing was stored if all records were rejected', () => {
      const rejected = [{ index: 0, reason: 'no metric name' }];
      const rejectedByReason = new Map([['no metric name', 1]]);
      const batch = batchOf({ rows: 0, rejected, rejectedCount: 1, rejectedByReason });
      const { body } = protocol.reply(batch, format);
      assert.match(String(body), /1 of 1 records .*, nothing was stored; time series 0/);
    });

    test('has separate caps for the compressed and the inflated body', () => {
      assert.deepEqual(capsOf(protocol, format), { wireBytes: 100, inflatedBytes: 400 });
    });
  });
}

test('reports counts of 0 for an empty request of version 2', () => {
  const empty = { samples: 0, histograms: 0, exemplars: 0, metadata: 0 };
  const { status, headers } = v2.reply(batchOf({ rows: 0, written: empty }), format);
  assert.equal(status, 204);
  assert.equal(headers?.['x-prometheus-remote-write-samples-written'], '0');
});
