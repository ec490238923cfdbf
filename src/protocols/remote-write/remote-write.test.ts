/** What senders of remote_write are told. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Batch } from '../../model/batch.ts';
import type { BodyFormat } from '../../model/protocol.ts';
import { createRemoteWrite } from './remote-write.ts';

const limits = { maxEvents: 10, maxDepth: 1, maxRejections: 10 };
const labels = { maxLabels: 64, maxNameLength: 1024, maxValueLength: 8192 };
const protocol = createRemoteWrite({ maxBodyBytes: 100, maxInflatedBytes: 400, limits, labels });
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

describe('the answer', () => {
  test('says without a body what was written', () => {
    const reply = protocol.reply(batchOf({}), format);
    assert.deepEqual(reply, { status: 204, contentType: undefined, body: '', headers: written });
  });

  test('is a 204 for nothing at all, since nothing was lost', () => {
    const empty = { samples: 0, histograms: 0, exemplars: 0, metadata: 0 };
    const { status, headers } = protocol.reply(batchOf({ rows: 0, written: empty }), format);
    assert.equal(status, 204);
    assert.equal(headers?.['x-prometheus-remote-write-samples-written'], '0');
  });

  test('is a 400 in one line, with what was stored, once something was rejected', () => {
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
      headers: written,
    });
  });

  test('says so where nothing is left to store', () => {
    const rejected = [{ index: 0, reason: 'no metric name' }];
    const rejectedByReason = new Map([['no metric name', 1]]);
    const batch = batchOf({ rows: 0, rejected, rejectedCount: 1, rejectedByReason });
    const { body } = protocol.reply(batch, format);
    assert.match(String(body), /1 of 1 records .*, nothing was stored; time series 0/);
  });
});

test('has one cap for what travels and one for what it becomes', () => {
  assert.deepEqual(protocol.bodyCaps(format), { travelling: 100, inflated: 400 });
});
