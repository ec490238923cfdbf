/** The remote_write decoder: accepted requests. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { encodeWriteRequest, toSample } from '../../../test/harness/prompb.ts';
import { encodeMessage } from '../../../test/protocols/prompb-schema.ts';
import {
  decode,
  field,
  label,
  rowsOf,
  sample,
} from '../../../test/protocols/remote-write-request.ts';
import { type SeriesState, seriesState, type SeriesView } from '../../model/series-view.ts';

const up = { __name__: 'up', job: 'a' };

describe('samples', () => {
  const bits: [name: string, bits: bigint][] = [
    ['zero, which senders omit', 0n],
    ['minus zero', 0x8000_0000_0000_0000n],
    ['the smallest double', 1n],
    ['infinity', 0x7ff0_0000_0000_0000n],
    ['minus infinity', 0xfff0_0000_0000_0000n],
    ['the stale marker', 0x7ff0_0000_0000_0002n],
    ['not a number', 0x7ff8_0000_0000_0001n],
    ['a NaN without a meaning', 0x7ff0_0000_0000_0003n],
    ['a negative NaN', 0xfff8_0000_0000_0000n],
    ['all bits set', 0xffff_ffff_ffff_ffffn],
  ];
  for (const [name, value] of bits) {
    test(`stores ${name} bit by bit`, async () => {
      const rows = await rowsOf(
        encodeWriteRequest([{ labels: up, samples: [{ timeMs: 1n, bits: value }] }]),
      );
      assert.deepEqual(
        rows.samples.map(({ valueBits }) => valueBits),
        [value],
      );
    });
  }

  for (const timeMs of [
    0n,
    1n,
    -1n,
    1_767_319_445_123n,
    -(2n ** 63n),
    2n ** 63n - 1n,
    2n ** 53n + 1n,
  ]) {
    test(`stores the time ${timeMs}`, async () => {
      const rows = await rowsOf(
        encodeWriteRequest([{ labels: up, samples: [{ timeMs, bits: 0n }] }]),
      );
      assert.deepEqual(
        rows.samples.map((one) => one.timeMs),
        [timeMs],
      );
      const day = timeMs < 0n ? 0 : timeMs > 2n ** 52n ? 65_535 : Number(timeMs / 86_400_000n);
      assert.equal(rows.series[0]?.day, day);
    });
  }

  test('stores le as sent, so that remote_read finds the series of the sender', async () => {
    const rows = await rowsOf(
      encodeWriteRequest([
        { labels: { __name__: 'h_bucket', le: '1' }, samples: [toSample(1, 1)] },
      ]),
    );
    assert.deepEqual(
      rows.series.map(({ labels }) => new Map(labels).get('le')),
      ['1'],
    );
  });

  test('keeps the order sent, including samples at the same time', async () => {
    const samples = [toSample(5, 1), toSample(3, 2), toSample(5, 3)];
    const rows = await rowsOf(
      encodeWriteRequest([
        { labels: up, samples },
        { labels: up, samples },
      ]),
    );
    assert.deepEqual(
      rows.samples.map(({ timeMs, value }) => [timeMs, value]),
      [
        [5n, 1],
        [3n, 2],
        [5n, 3],
        [5n, 1],
        [3n, 2],
        [5n, 3],
      ],
    );
    assert.equal(new Set(rows.samples.map(({ id }) => id)).size, 1);
  });

  test('counts samples, histograms, exemplars and metadata separately', async () => {
    const body = encodeWriteRequest(
      [
        {
          labels: up,
          samples: [toSample(1, 1), toSample(2, 2)],
          exemplars: [{ labels: {}, ...toSample(1, 1) }],
          histograms: [encodeMessage('Histogram', {})],
        },
      ],
      [{ type: 1, name: 'up', help: 'Is it?', unit: '' }],
    );
    const { rows, written, rejectedCount } = await decode(body);
    assert.deepEqual(written, { samples: 2, histograms: 1, exemplars: 1, metadata: 1 });
    assert.deepEqual([rows, rejectedCount], [5, 0]);
  });
});

describe('labels', () => {
  const stored = async (body: Buffer) => (await rowsOf(body)).series.map(({ labels }) => labels);
  const sorted = [
    ['__name__', 'up'],
    ['a', '1'],
    ['b', '2'],
  ];

  test('sorts labels', async () => {
    const bodies = [
      { __name__: 'up', a: '1', b: '2' },
      { b: '2', __name__: 'up', a: '1' },
      { a: '1', b: '2', __name__: 'up' },
    ].map((labels) => encodeWriteRequest([{ labels, samples: [toSample(1, 1)] }]));
    for (const body of bodies) assert.deepEqual(await stored(body), [sorted]);
    const rows = await Promise.all(bodies.map((body) => rowsOf(body)));
    assert.equal(new Set(rows.map(({ samples }) => samples[0]?.id)).size, 1);
  });

  test('sorts by UTF-8 bytes, not by UTF-16 units', async () => {
    const labels = { '\u{1f600}': 'x', '\uff01': 'y', __name__: 'up' };
    const body = encodeWriteRequest([{ labels, samples: [toSample(1, 1)] }]);
    const [names] = await stored(body);
    assert.deepEqual(
      names?.map(([name]) => name),
      ['__name__', '\uff01', '\u{1f600}'],
    );
  });

  test('treats an empty value as an absent label', async () => {
    const body = encodeWriteRequest([
      { labels: { __name__: 'up', a: '' }, samples: [toSample(1, 1)] },
      { labels: { __name__: 'up' }, samples: [toSample(2, 1)] },
    ]);
    assert.equal(new Set((await rowsOf(body)).samples.map(({ id }) => id)).size, 1);
    assert.deepEqual((await stored(body))[0], [['__name__', 'up']]);
  });

  test('accepts any UTF-8, including U+FFFD, NUL and quotes', async () => {
    const labels = { __name__: 'größe.of{x}', 日本: '\ufffd\0"\\\n' };
    const body = encodeWriteRequest([{ labels, samples: [toSample(1, 1)] }]);
    assert.deepEqual(await stored(body), [Object.entries(labels)]);
  });

  test('reads labels after the samples, and labels that are not adjacent', async () => {
    const [name, a, b] = [label('__name__', 'up'), label('a', '1'), label('b', '2')] as const;
    const at = sample(7, 4);
    for (const pieces of [
      [name, a, b, at],
      [at, name, a, b],
      [b, at, a, name],
      [name, Buffer.from([0x58, 1]), a, at, b],
    ]) {
      const rows = await rowsOf(field(1, ...pieces));
      assert.deepEqual(
        rows.series.map(({ labels }) => labels),
        [sorted],
      );
      assert.deepEqual(
        rows.samples.map(({ timeMs, value }) => [timeMs, value]),
        [[7n, 4]],
      );
    }
  });

  test('looks a series up once per day of samples and writes labels if new', async () => {
    const asked: number[] = [];
    const view: SeriesView = {
      streamId: '',
      maxSeries: 9,
      scope: 0,
      look: (_ids, _at, day) => {
        asked.push(day);
        return day === 1 ? seriesState.known : seriesState.new;
      },
    };
    const day = 86_400_000;
    const times = [-2, -1, 0, 1, day, day + 1, 2 * day];
    const samples = times.map((time) => toSample(time, 1));
    const rows = await rowsOf(encodeWriteRequest([{ labels: up, samples }]), view);
    assert.deepEqual(asked, [0, 1, 2]);
    assert.deepEqual(
      rows.series.map((one) => one.day),
      [0, 2],
    );
    assert.equal(rows.samples.length, times.length);
  });
});

describe('labels that an earlier request stored', () => {
  const body = encodeWriteRequest([{ labels: up, samples: [toSample(1, 1), toSample(2, 1)] }]);

  function viewOf(scope: number, state: SeriesState) {
    const asked: number[] = [];
    const look = (_ids: Uint32Array, _at: number, day: number) => {
      asked.push(day);
      return state;
    };
    return { view: { streamId: '', maxSeries: 9, scope, look }, asked };
  }

  for (const [title, scope, state, later] of [
    ['are looked up once in a scope', 1001, seriesState.known, []],
    ['are looked up again in another scope', 1002, seriesState.known, [0]],
    ['are looked up again without a scope', 0, seriesState.known, [0]],
    ['are looked up again while they are pending', 1004, seriesState.pending, [0]],
  ] as const) {
    test(title, async () => {
      const first = viewOf(scope, state);
      await rowsOf(body, first.view);
      assert.deepEqual(first.asked, [0]);
      const second = viewOf(title.includes('another') ? scope + 1 : scope, state);
      const rows = await rowsOf(body, second.view);
      assert.deepEqual([second.asked, rows.samples.length], [later, 2]);
    });
  }
});

test('reads known labels that further labels follow as another series', async () => {
  const [name, a] = [label('__name__', 'prefix'), label('a', '1')] as const;
  const [b, c, d] = ['b', 'c', 'd'].map((one) => label(one, '1')) as [Buffer, Buffer, Buffer];
  const [e, at] = [label('e', '1'), sample(7, 4)] as const;
  // The second body teaches the order of these series.
  for (const pieces of [[at], [at], [b, at], [at, b], [b, at, c]]) {
    const rows = await rowsOf(
      Buffer.concat([field(1, name, at), field(1, name, a, ...pieces), field(1, name, at)]),
    );
    const names = rows.series.map(({ labels }) => labels.length);
    const expected = 2 + pieces.filter((piece) => piece !== at).length;
    assert.deepEqual(names, [1, expected, 1]);
  }
  const many = field(1, name, a, b, c, at, d, e);
  const { rejectedByReason } = await decode(Buffer.concat([field(1, name, at), many]));
  assert.deepEqual([...rejectedByReason], [['too many labels', 1]]);
});

describe('other records', () => {
  test('stores histograms as sent, with unknown fields', async () => {
    const message = Buffer.concat([
      encodeMessage('Histogram', { countInt: 3, sum: 2, timestamp: -5, zeroCountInt: 3 }),
      Buffer.from([0x88, 0x01, 5]),
    ]);
    const rows = await rowsOf(encodeWriteRequest([{ labels: up, histograms: [message, message] }]));
    const id = rows.series[0]?.id;
    assert.deepEqual(rows.histograms, [
      { id, timeMs: -5n, message },
      { id, timeMs: -5n, message },
    ]);
  });

  test('sorts the labels of exemplars and accepts none', async () => {
    const exemplars = [
      { labels: { trace_id: 'b', span_id: 'a' }, timeMs: 3n, bits: 0x7ff0_0000_0000_0002n },
      { labels: {}, timeMs: 0n, bits: 0n },
    ];
    const rows = await rowsOf(encodeWriteRequest([{ labels: up, exemplars }]));
    assert.deepEqual(
      rows.exemplars.map(({ timeMs, valueBits, labels }) => ({ timeMs, valueBits, labels })),
      [
        {
          timeMs: 3n,
          valueBits: 0x7ff0_0000_0000_0002n,
          labels: [
            ['span_id', 'a'],
            ['trace_id', 'b'],
          ],
        },
        { timeMs: 0n, valueBits: 0n, labels: [] },
      ],
    );
  });

  test('accepts a request of metadata only', async () => {
    const words = 'unknown counter gauge histogram gaugehistogram summary info stateset'.split(' ');
    const sent = [0, 1, 2, 3, 4, 5, 6, 7, 8, -1].map((type) => ({
      type,
      name: `m${type}`,
      help: 'größe\n',
      unit: 's',
    }));
    const rows = await rowsOf(encodeWriteRequest([], sent));
    assert.deepEqual(
      rows.metadata,
      sent.map(({ type, name, help, unit }) => ({
        name,
        type: words[type] ?? 'unknown',
        unit,
        help,
      })),
    );
  });

  test('drops invalid metadata with a warning', async () => {
    const body = Buffer.concat([
      field(3, field(4, Buffer.from('help'))),
      field(3, field(2, Buffer.from([0xff]))),
      field(3, field(2, Buffer.from('m')), field(4, Buffer.from('x'.repeat(31)))),
    ]);
    const batch = await decode(body);
    assert.deepEqual([batch.rows, batch.rejectedCount], [0, 0]);
    assert.deepEqual(
      [...(batch.warnings ?? [])],
      [
        ['metadata dropped: no metric name', 1],
        ['metadata dropped: not in UTF-8', 1],
        ['metadata dropped: too long', 1],
      ],
    );
  });

  test('stores nothing for an empty request or series without samples', async () => {
    for (const body of [
      Buffer.alloc(0),
      field(1),
      field(1, label('a', 'b')),
      field(1, field(1, field(1, Buffer.from([0xff])))),
      Buffer.from([0x10, 2]),
    ]) {
      const { rows, rejectedCount, payload } = await decode(body);
      assert.deepEqual([rows, rejectedCount, payload.length], [0, 0, 20]);
    }
  });
});
