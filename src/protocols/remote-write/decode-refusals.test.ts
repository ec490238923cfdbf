/** The remote_write decoder: rejected records and refused requests. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { encodeWriteRequest, type Sample, toSample } from '../../../test/harness/prompb.ts';
import { encodeMessage } from '../../../test/protocols/prompb-schema.ts';
import {
  decode,
  field,
  label,
  rowsOf,
  sample,
} from '../../../test/protocols/remote-write-request.ts';
import { AppError, type ErrorCode } from '../../model/errors.ts';
import { seriesState, type SeriesView } from '../../model/series-view.ts';

const up = { __name__: 'up', job: 'a' };

describe('rejected records', () => {
  const bad: [name: string, series: Buffer, reason: string, count: number][] = [
    ['no labels', field(1, sample(1, 1), sample(2, 1)), 'no metric name', 2],
    ['no name', field(1, label('a', 'b'), sample(1, 1)), 'no metric name', 1],
    ['an empty name', field(1, label('__name__', ''), sample(1, 1)), 'no metric name', 1],
    ['a nameless label', field(1, label('', 'b'), sample(1, 1)), 'empty label name', 1],
    [
      'a repeated label',
      field(1, label('a', 'b'), label('__name__', 'x'), label('a', 'b'), sample(1, 1)),
      'repeated label name',
      1,
    ],
    [
      'invalid UTF-8',
      field(1, field(1, field(1, Buffer.from([0xff])), field(2, Buffer.from('x'))), sample(1, 1)),
      'label not in UTF-8',
      1,
    ],
    [
      'a long value',
      field(1, label('__name__', 'x'.repeat(31)), sample(1, 1)),
      'label value too long',
      1,
    ],
    [
      'a long name',
      field(1, label('__name__', 'x'), label('n'.repeat(21), 'x'), sample(1, 1)),
      'label name too long',
      1,
    ],
    [
      'many labels',
      field(1, ...['__name__', 'b', 'c', 'd', 'e', 'f'].map((n) => label(n, '1')), sample(1, 1)),
      'too many labels',
      1,
    ],
    [
      'counts every record of a series',
      field(1, sample(1, 1), field(3), field(3), field(4), label('a', 'b')),
      'no metric name',
      4,
    ],
  ];
  for (const [name, series, reason, count] of bad) {
    test(name, async () => {
      const good = encodeWriteRequest([{ labels: up, samples: [toSample(1, 1)] }]);
      const batch = await decode(Buffer.concat([good, series, good]));
      assert.equal(batch.rows, 2);
      assert.equal(batch.rejectedCount, count);
      assert.deepEqual([...batch.rejectedByReason], [[reason, count]]);
      assert.deepEqual(
        batch.rejected.map(({ index }) => index),
        [1],
      );
      assert.ok(batch.rejected[0]?.reason.startsWith(reason));
    });
  }

  test('lists the first rejections and counts all', async () => {
    const series = ['a', 'b', 'c', 'd', 'e'].map((name) =>
      field(1, label(name, '1'), sample(1, 1)),
    );
    const batch = await decode(Buffer.concat(series));
    assert.equal(batch.rejectedCount, 5);
    assert.deepEqual(batch.rejected, [
      { index: 0, reason: 'no metric name: {a="1"}' },
      { index: 1, reason: 'no metric name' },
      { index: 2, reason: 'no metric name' },
    ]);
  });

  test('rejects labels far beyond the limit without reading them', async () => {
    const labels = { __name__: 'x'.repeat(100_000) };
    const exemplars = [{ labels, ...toSample(1, 1) }];
    const body = encodeWriteRequest(
      [
        { labels, samples: [toSample(1, 1)] },
        { labels: up, exemplars },
      ],
      [{ type: 1, name: 'up', help: 'x'.repeat(100_000), unit: '' }],
    );
    const batch = await decode(body);
    assert.equal(batch.rows, 0);
    assert.deepEqual(
      [...batch.rejectedByReason],
      [
        ['label value too long', 1],
        ['bad exemplar', 1],
      ],
    );
    assert.deepEqual([...(batch.warnings ?? [])], [['metadata dropped: too long', 1]]);
  });

  test('shows the labels of the first rejection on one line, truncated', async () => {
    const labels = { 'a\nb': '"\n', größe: 'x'.repeat(20), c: 'y'.repeat(300) };
    const batch = await decode(encodeWriteRequest([{ labels, samples: [toSample(1, 1)] }]));
    const { reason } = batch.rejected[0]!;
    assert.ok(reason.startsWith('label value too long: {"a\\nb"="\\"\\n", "größe"="xxx'), reason);
    assert.ok(reason.endsWith('yy…}') && reason.length < 240 && !reason.includes('\n'), reason);
  });

  test('rejects a new series over the limit and names the setting', async () => {
    const view: SeriesView = {
      streamId: '',
      maxSeries: 7,
      scope: 0,
      look: (_ids, _at, day) => (day === 0 ? seriesState.new : seriesState.refused),
    };
    const samples = [toSample(1, 1), toSample(86_400_000, 1), toSample(86_400_001, 1)];
    const exemplars = [{ labels: {}, ...toSample(86_400_000, 1) }];
    const histograms = [encodeMessage('Histogram', { timestamp: 86_400_000 })];
    const body = encodeWriteRequest([{ labels: up, samples, exemplars, histograms }]);
    const batch = await decode(body, view);
    assert.deepEqual(batch.written, { samples: 1, histograms: 0, exemplars: 0, metadata: 0 });
    assert.deepEqual([...batch.rejectedByReason], [['series limit', 4]]);
    assert.match(batch.rejected[0]?.reason ?? '', /7 series .* metrics\.maxSeriesPerAccount/);
  });

  test('rejects an invalid histogram and stores the samples beside it', async () => {
    const histograms = [encodeMessage('Histogram', { countInt: 1, zeroCountInt: 2 })];
    const batch = await decode(
      encodeWriteRequest([{ labels: up, samples: [toSample(1, 1)], histograms }]),
    );
    assert.equal(batch.written?.samples, 1);
    assert.deepEqual([...batch.rejectedByReason], [['bad histogram', 1]]);
  });

  test('rejects exemplars with invalid labels', async () => {
    const exemplars = [
      { labels: { '': 'x' }, ...toSample(1, 1) },
      { labels: { trace_id: 'x'.repeat(31) }, ...toSample(1, 1) },
      { labels: { trace_id: 'x'.repeat(30) }, ...toSample(1, 1) },
    ];
    const batch = await decode(encodeWriteRequest([{ labels: up, exemplars }]));
    assert.deepEqual([batch.written?.exemplars, batch.rejectedCount], [1, 2]);
    assert.deepEqual([...batch.rejectedByReason], [['bad exemplar', 2]]);
  });
});

describe('refused requests', () => {
  const samples = (count: number): Sample[] =>
    Array.from({ length: count }, (_, index) => toSample(index, 1));
  const cases: [name: string, body: Buffer, code: ErrorCode, message: RegExp][] = [
    ['a truncated field', Buffer.from([0x0a, 5, 1]), 'malformed', /beyond .* at byte 1$/],
    ['a truncated length', Buffer.from([0x0a, 0x80]), 'malformed', /beyond .* at byte 1$/],
    ['a time series of wire type varint', Buffer.from([0x08, 1]), 'malformed', /type 0 at byte 0$/],
    [
      'metadata of wire type fixed64',
      Buffer.from('190000000000000000', 'hex'),
      'malformed',
      /type 1 at/,
    ],
    ['a field number of zero', Buffer.from([0x02, 0]), 'malformed', /number 0 at byte 0$/],
    ['an unknown wire type', Buffer.from([0x3f]), 'malformed', /wire type 7/],
    ['an overlong varint', Buffer.alloc(12, 0xff), 'malformed', /ten bytes/],
    [
      'a value of wire type varint',
      field(1, field(2, Buffer.from([0x08, 1]))),
      'malformed',
      /field 1 of a sample in wire type 0 at byte 4$/,
    ],
    [
      'a truncated value',
      field(1, field(2, Buffer.from([9, 1]))),
      'malformed',
      /beyond .* at byte 5$/,
    ],
    [
      'a label that is not a message',
      field(1, field(1, Buffer.from('up')), sample(1, 1)),
      'malformed',
      /beyond .* at byte 5$/,
    ],
    [
      'a message of remote_write 2.0',
      Buffer.concat([field(4, Buffer.alloc(0)), field(4, Buffer.from('up')), field(5)]),
      'malformed',
      /remote_write 2\.0.*prometheus\.WriteRequest/,
    ],
    [
      'more samples than the limit',
      encodeWriteRequest([
        { labels: up, samples: samples(600) },
        { labels: up, samples: samples(401) },
      ]),
      'too_large',
      /1000 samples.*ingest\.remoteWriteMaxSamples/,
    ],
    [
      'more records of all kinds than the limit',
      Buffer.concat(Array.from({ length: 1001 }, () => Buffer.from('0a021a00', 'hex'))),
      'too_large',
      /ingest\.remoteWriteMaxSamples/,
    ],
    [
      'more metadata than the limit',
      Buffer.concat(Array.from({ length: 1001 }, () => Buffer.from('1a03120161', 'hex'))),
      'too_large',
      /ingest\.remoteWriteMaxSamples/,
    ],
    [
      'labels repeated for too many days',
      encodeWriteRequest([
        {
          labels: up,
          samples: Array.from({ length: 100 }, (_, day) => toSample(day * 86_400_000, 1)),
        },
      ]),
      'too_large',
      /2000 bytes of labels/,
    ],
  ];
  for (const [name, body, code, message] of cases) {
    test(name, async () => {
      await assert.rejects(
        decode(body),
        (error) => error instanceof AppError && error.code === code && message.test(error.message),
      );
      const again = encodeWriteRequest([{ labels: up, samples: [toSample(1, 1)] }]);
      assert.equal((await rowsOf(again)).samples.length, 1, 'the next request is not affected');
    });
  }

  test('accepts a request that also has fields of 2.0', async () => {
    const v1 = encodeWriteRequest([{ labels: up, samples: [toSample(1, 1)] }]);
    assert.equal((await decode(Buffer.concat([v1, field(4), field(5)]))).rows, 1);
  });

  test('accepts the maximum of samples, even if all are rejected', async () => {
    const body = encodeWriteRequest([{ labels: {}, samples: samples(1000) }]);
    assert.equal((await decode(body)).rows, 0);
  });
});
