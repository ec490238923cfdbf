/**
 * Compares the messages of remote read with protobufjs and the schema of Prometheus
 * (prompb/remote.proto, prompb/types.proto), in both directions.
 */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import protobuf from 'protobufjs';
import { AppError } from '../model/errors.ts';
import type { SeriesSamples } from '../model/metric-plan.ts';
import { decodeReadRequest, type ReadQuery } from './read-request.ts';
import { encodeReadResponse } from './read-response.ts';

/**
 * Values are declared as fixed64, which has the encoding of double, so that their bits are visible.
 */
const { root } = protobuf.parse(`
  syntax = "proto3";
  message ReadRequest {
    repeated Query queries = 1; repeated ResponseType accepted_response_types = 2;
  }
  enum ResponseType { SAMPLES = 0; STREAMED_XOR_CHUNKS = 1; }
  message Query {
    int64 start_timestamp_ms = 1; int64 end_timestamp_ms = 2;
    repeated LabelMatcher matchers = 3; ReadHints hints = 4;
  }
  message LabelMatcher { uint32 type = 1; string name = 2; string value = 3; }
  message ReadHints {
    int64 step_ms = 1; string func = 2; repeated string grouping = 5; bool by = 6;
    double odd = 9; fixed32 other = 10;
  }
  message ReadResponse { repeated QueryResult results = 1; }
  message QueryResult { repeated TimeSeries timeseries = 1; }
  message TimeSeries {
    repeated Label labels = 1; repeated Sample samples = 2; repeated bytes histograms = 4;
  }
  message Label { string name = 1; string value = 2; }
  message Sample { fixed64 value = 1; int64 timestamp = 2; }
`);
const requestType = root.lookupType('ReadRequest');
const responseType = root.lookupType('ReadResponse');

const Long = protobuf.util.Long as unknown as {
  fromBits(low: number, high: number): protobuf.Long;
};
const toLong = (value: bigint) => {
  const bits = BigInt.asUintN(64, value);
  return Long.fromBits(Number(bits & 0xffff_ffffn), Number(bits >> 32n));
};
const toBits = ({ low, high }: { low: number; high: number }) =>
  (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0);

const text = fc.string({ unit: 'binary' }).map((value) => value.toWellFormed());
const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const uint64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const types = ['equal', 'notEqual', 'matches', 'notMatches'] as const;
const plain = { noNullPrototype: true };
const matcher = fc.record(
  { name: text.filter((name) => name !== ''), type: fc.constantFrom(...types), value: text },
  plain,
);
const query: fc.Arbitrary<ReadQuery> = fc.record(
  { fromMs: int64, untilMs: int64, selector: fc.array(matcher) },
  plain,
);

function encodeRequest(queries: readonly ReadQuery[], acceptedResponseTypes: number[] = []) {
  const bytes = requestType.encode({
    queries: queries.map(({ fromMs, untilMs, selector }) => ({
      startTimestampMs: toLong(fromMs),
      endTimestampMs: toLong(untilMs),
      matchers: selector.map(({ name, type, value }) => ({
        name,
        type: types.indexOf(type),
        value,
      })),
      hints: { stepMs: 15_000, func: 'rate', grouping: ['job'], by: true, odd: 1.5, other: 7 },
    })),
    acceptedResponseTypes,
  });
  return bytes.finish();
}

suite('read requests', () => {
  test('decodes any that protobufjs encodes', () => {
    fc.assert(
      fc.property(fc.array(query), (queries) => {
        assert.deepEqual(decodeReadRequest(encodeRequest(queries)), queries);
      }),
    );
  });

  test('serves samples to a client that prefers chunks', () => {
    assert.deepEqual(decodeReadRequest(encodeRequest([], [1, 0])), []);
    assert.deepEqual(decodeReadRequest(encodeRequest([], [0])), []);
    // Not packed: one field each.
    assert.deepEqual(decodeReadRequest(Buffer.of(0x10, 1, 0x10, 0)), []);
    assert.throws(() => decodeReadRequest(encodeRequest([], [1])), /accept SAMPLES/);
    assert.throws(() => decodeReadRequest(Buffer.of(0x10, 1)), /accept SAMPLES/);
  });

  const short = /a value that goes beyond the end of its message at byte \d+$/;
  const malformed: readonly (readonly [string, readonly number[], RegExp])[] = [
    ['a tag alone', [0x0a], short],
    ['a length beyond the end', [0x0a, 5, 0], short],
    ['a huge length', [0x0a, ...Array<number>(9).fill(0xff), 1], short],
    ['a number without an end', [0x10, ...Array<number>(10).fill(0x80)], /ten bytes at byte 1$/],
    ['a packed number without an end', [0x12, 2, 0x80, 0x80], short],
    ['a field of number 0', [0x02, 0], /field of number 0 at byte 0$/],
    ['a group', [0x0b, 0x0c], /field 1 of a read request in wire type 3 at byte 0$/],
    ['a fixed field cut off', [0x19, 1, 2, 3], short],
    ['a query that is a number', [0x08, 1], /field 1 of a read request in wire type 0/],
    ['a time that is text', [0x0a, 3, 0x0a, 1, 65], /field 1 of a query in wire type 2 at byte 2$/],
    [
      'a name that is a number',
      [0x0a, 4, 0x1a, 2, 0x10, 1],
      /field 2 of a matcher in wire type 0 at byte 4$/,
    ],
    ['a matcher of another type', [0x0a, 7, 0x1a, 5, 0x08, 4, 0x12, 1, 65], /type 4, which is no/],
    ['a matcher without a name', [0x0a, 4, 0x1a, 2, 0x08, 1], /names no label/],
    ['a name that is no UTF-8', [0x0a, 5, 0x1a, 3, 0x12, 1, 0xff], /not UTF-8 at byte 6$/],
  ];
  for (const [name, bytes, message] of malformed) {
    test(name, () => {
      assert.throws(
        () => decodeReadRequest(Buffer.from(bytes)),
        (error) =>
          error instanceof AppError && error.code === 'malformed' && message.test(error.message),
      );
    });
  }

  test('decodes a view into a larger buffer', () => {
    const queries = [{ fromMs: 1n, untilMs: -1n, selector: [] }];
    const around = Buffer.concat([Buffer.alloc(9, 0xff), encodeRequest(queries)]);
    assert.deepEqual(
      decodeReadRequest(new Uint8Array(around.buffer, around.byteOffset + 9, around.length - 9)),
      queries,
    );
  });

  test('any bytes are a request or malformed', () => {
    const broken = fc
      .tuple(fc.array(query, { maxLength: 3 }), fc.nat(), fc.integer({ min: 0, max: 255 }))
      .map(([queries, at, byte]) => {
        const bytes = encodeRequest(queries);
        if (bytes.length > 0) bytes[at % bytes.length] = byte;
        return bytes;
      });
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 64 }), broken), (bytes) => {
        try {
          decodeReadRequest(bytes);
        } catch (error) {
          if (!(error instanceof AppError)) throw error;
        }
      }),
      { numRuns: 3000 },
    );
  });
});

const series: fc.Arbitrary<SeriesSamples> = fc
  .record({
    labels: fc.array(fc.tuple(text, text)),
    samples: fc.array(fc.tuple(int64, uint64)),
    histograms: fc.array(fc.record({ timeMs: int64, message: fc.uint8Array() })),
  })
  .map(({ labels, samples, histograms }) => ({
    labels,
    times: BigInt64Array.from(samples.map(([time]) => time)),
    values: BigUint64Array.from(samples.map(([, value]) => value)),
    histograms,
  }));

/** Continues to the end however often it yields. */
function encode(results: readonly (readonly SeriesSamples[])[]) {
  const encoding = encodeReadResponse(results);
  let turns = 0;
  for (;;) {
    const step = encoding.next();
    if (step.done) return { bytes: step.value, turns };
    turns += 1;
  }
}

interface Decoded {
  readonly results: readonly {
    readonly timeseries: readonly {
      readonly labels: readonly { name: string; value: string }[];
      readonly samples: readonly { value: protobuf.Long; timestamp: protobuf.Long }[];
      readonly histograms: readonly Uint8Array[];
    }[];
  }[];
}

function decode(bytes: Uint8Array) {
  const { results } = responseType.decode(bytes) as unknown as Decoded;
  return results.map(({ timeseries }) =>
    timeseries.map(({ labels, samples, histograms }) => ({
      labels: labels.map(({ name, value }) => [name, value]),
      times: samples.map(({ timestamp }) => BigInt.asIntN(64, toBits(timestamp))),
      values: samples.map(({ value }) => toBits(value)),
      histograms: histograms.map((message) => Buffer.from(message).toString('hex')),
    })),
  );
}

suite('read responses', () => {
  test('protobufjs decodes any of them with equal bits', () => {
    fc.assert(
      fc.property(fc.array(fc.array(series)), (results) => {
        assert.deepEqual(
          decode(encode(results).bytes),
          results.map((result) =>
            result.map(({ labels, times, values, histograms }) => ({
              labels,
              times: [...times],
              values: [...values],
              histograms: histograms.map(({ message }) => Buffer.from(message).toString('hex')),
            })),
          ),
        );
      }),
    );
  });

  test('stale markers and other NaNs keep their bits', () => {
    const values = BigUint64Array.of(0x7ff0000000000002n, 0x7ff8000000000001n, 0xfff8000000000000n);
    const times = BigInt64Array.of(1n, 2n, 3n);
    const { bytes } = encode([[{ labels: [['__name__', 'up']], times, values, histograms: [] }]]);
    assert.deepEqual(decode(bytes)[0]?.[0]?.values, [...values]);
  });

  test('encodes views into larger arrays', () => {
    const times = BigInt64Array.of(1n, 2n, 3n).subarray(1);
    const values = BigUint64Array.of(7n, 8n, 9n).subarray(1);
    const { bytes } = encode([[{ labels: [], times, values, histograms: [] }]]);
    assert.deepEqual(decode(bytes)[0]?.[0]?.times, [2n, 3n]);
    assert.deepEqual(decode(bytes)[0]?.[0]?.values, [8n, 9n]);
  });

  test('yields within a long series and between many short ones', () => {
    const ofLength = (length: number): SeriesSamples => ({
      labels: [],
      times: new BigInt64Array(length),
      values: new BigUint64Array(length),
      histograms: [],
    });
    assert.equal(encode([[ofLength(10)]]).turns, 0);
    assert.ok(encode([[ofLength(2_000_000)]]).turns >= 100);
    assert.ok(encode([Array.from({ length: 50_000 }, () => ofLength(20))]).turns >= 100);
  });
});
