/** Push requests of Loki: both encodings have the same rows, and what is refused. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { configSchema } from '../../../config/schema.ts';
import type { Batch } from '../../../model/batch.ts';
import { AppError } from '../../../model/errors.ts';
import type { BodyFormat } from '../../../model/protocol.ts';
import { blankSeriesView } from '../../../../test/harness/blank-series-view.ts';
import { lokiJson, lokiProtobuf, type LokiStream } from '../../../../test/protocols/loki-push.ts';
import { bytesField, text } from '../../../../test/harness/proto-wire.ts';
import { readLogRows } from '../../../../test/protocols/read-log-rows.ts';
import { createLoki } from './loki.ts';

const loki = createLoki(configSchema.parse({}));
const json = 'application/json';
const protobuf = 'application/x-protobuf';
const time = 1_795_341_600_123_456_789n;

const formatOf = (mediaType: string, coding: BodyFormat['coding'] = 'identity'): BodyFormat => ({
  mediaType,
  parameters: new Map(),
  coding,
});

async function decode(body: Buffer, mediaType: string): Promise<Batch> {
  return loki.decode(body, formatOf(mediaType), {
    limits: loki.limits,
    nowMs: 0,
    series: blankSeriesView,
  });
}

async function rowsOf(body: Buffer, mediaType: string) {
  return readLogRows((await decode(body, mediaType)).payload);
}

const encodings = [
  [json, lokiJson],
  [protobuf, lokiProtobuf],
] as const;

for (const [mediaType, encode] of encodings) {
  suite(mediaType, () => {
    test('an entry has the labels of its stream and its metadata', async () => {
      const metadata = { trace_id: '0af7651916cd43dd8448eb211c80319c', user: 'zoë' };
      const labels = { app: 'shop', level: 'warn', pod: 'a"\n' };
      const body = encode([{ labels, entries: [{ time, line: 'slöw\t"', metadata }] }]);
      const [row] = await rowsOf(body, mediaType);
      assert.ok(row);
      assert.equal(row.body, 'slöw\t"');
      assert.equal(row.timestamp, time);
      assert.equal(row.severityText, 'WARN');
      assert.equal(row.serviceName, 'shop');
      assert.equal(row.traceId, metadata.trace_id);
      assert.deepEqual(
        row.logAttributes,
        new Map([
          ['app', 'shop'],
          ['pod', 'a"\n'],
          ['user', 'zoë'],
        ]),
      );
    });

    const services: readonly (readonly [Record<string, string>, string])[] = [
      [{ service_name: 'a', app: 'b', job: 'c' }, 'a'],
      [{ service: 'a', app: 'b', job: 'c' }, 'a'],
      [{ app: 'b', job: 'c' }, 'b'],
      [{ job: 'c' }, 'c'],
      [{}, ''],
    ];
    for (const [labels, service] of services) {
      test(`the service of ${JSON.stringify(labels)}`, async () => {
        const body = encode([{ labels, entries: [{ time, line: 'x' }] }]);
        const [row] = await rowsOf(body, mediaType);
        assert.equal(row?.serviceName, service);
      });
    }

    test('detected_level is the severity of entries without another', async () => {
      const labels = { detected_level: 'warn', job: 'a' };
      const metadata = { level: 'error' };
      const entries = [
        { time, line: 'x' },
        { time, line: 'y', metadata },
      ];
      const [detected, own] = await rowsOf(encode([{ labels, entries }]), mediaType);
      assert.equal(detected?.severityText, 'WARN');
      assert.equal(own?.severityText, 'ERROR');
      for (const row of [detected, own]) {
        assert.deepEqual(row?.logAttributes, new Map(Object.entries(labels)));
      }
    });

    test('metadata replaces a label of its name', async () => {
      const labels = { user: 'a', host: 'b' };
      const metadata = { user: 'c', host: 'd' };
      const body = encode([{ labels, entries: [{ time, line: 'x', metadata }] }]);
      const [row] = await rowsOf(body, mediaType);
      assert.equal(row?.host, 'd');
      assert.deepEqual(row.logAttributes, new Map([['user', 'c']]));
    });

    test('labels named as a field of the event stay', async () => {
      for (const name of ['message', 'timestamp', 'labels']) {
        const body = encode([{ labels: { [name]: 'y' }, entries: [{ time, line: 'x' }] }]);
        const [row] = await rowsOf(body, mediaType);
        assert.equal(row?.body, 'x');
        assert.equal(row.timestamp, time);
        assert.deepEqual(row.logAttributes, new Map([[name, 'y']]));
      }
    });

    test('many entries arrive in order', async () => {
      const entries = Array.from({ length: 9000 }, (_, i) => ({
        time,
        line: `${i} ${'x'.repeat(60)}`,
      }));
      const rows = await rowsOf(encode([{ labels: { a: 'b' }, entries }]), mediaType);
      assert.deepEqual(
        rows.map(({ body }) => body),
        entries.map(({ line }) => line),
      );
    });

    test('labels that would fill the memory are too large', async () => {
      const labels = { a: 'x'.repeat(60_000) };
      const entries = Array.from({ length: 9000 }, () => ({ time, line: '' }));
      const body = encode([{ labels, entries }]);
      await assert.rejects(decode(body, mediaType), { code: 'too_large' });
    });

    test('labels of one stream are limited', async () => {
      const body = encode([{ labels: { a: 'x'.repeat(70_000) }, entries: [{ time, line: '' }] }]);
      await assert.rejects(decode(body, mediaType), /labels of over 65536 bytes/);
    });

    test('no streams are no rows', async () => {
      assert.equal((await decode(encode([]), mediaType)).rows, 0);
    });
  });
}

test('both encodings have the same rows', async () => {
  const name = fc.stringMatching(/^[a-z_][a-z0-9_]{0,8}$/);
  const dictionary = fc.dictionary(name, fc.string({ unit: 'grapheme' }), {
    noNullPrototype: true,
  });
  const entry = fc.record({
    time: fc.bigInt({ min: 10n ** 18n, max: 9n * 10n ** 18n }),
    line: fc.string({ unit: 'grapheme' }),
    metadata: dictionary,
  });
  const stream = fc.record({ labels: dictionary, entries: fc.array(entry) });
  await fc.assert(
    fc.asyncProperty(fc.array(stream), async (streams: readonly LokiStream[]) => {
      const [first, second] = await Promise.all(
        encodings.map(([type, encode]) => decode(encode(streams), type)),
      );
      assert.deepEqual(first, second);
    }),
  );
});

test('each stream has its own labels, whatever their lengths', async () => {
  const values = ['', 'short', '\u0001'.repeat(5000), 'é"\\\n', 'x'.repeat(30_000), ''];
  const streams = values.map((value, n) => {
    const labels = n === 0 ? {} : { [`name${n}`]: value, own: `${n}` };
    return { labels, entries: [1n, 2n].map((at) => ({ time: at, line: `${n}` })) };
  });
  const rows = await rowsOf(lokiProtobuf(streams), protobuf);
  assert.deepEqual(
    rows.map(({ body, logAttributes }) => [body, Object.fromEntries(logAttributes as never)]),
    streams.flatMap(({ labels }, n) => [1, 2].map(() => [`${n}`, labels])),
  );
});

test('members of a request in JSON may have any order', async () => {
  const values = `[["${time}","x"]]`;
  const stream = `{"values":${values},"other":[1],"stream":{"app":"shop"}}`;
  const body = Buffer.from(`{"before":{},"streams":[${stream}],"after":7}`);
  const [row] = await rowsOf(body, json);
  assert.equal(row?.serviceName, 'shop');
  assert.equal(row.body, 'x');
});

test('texts in JSON that are not UTF-8 are repaired', async () => {
  const values = `[["${time}","caf\xe9"]]`;
  const batch = await decode(Buffer.from(`{"streams":[{"values":${values}}]}`, 'latin1'), json);
  assert.equal(readLogRows(batch.payload)[0]?.body, 'caf\ufffd');
  assert.equal(batch.warnings?.size, 1);
});

test('texts in protobuf that are not UTF-8 are repaired', async () => {
  const broken = Buffer.from('a\xff', 'latin1');
  const pair = (name: Buffer, value: Buffer) =>
    bytesField(3, Buffer.concat([bytesField(1, name), bytesField(2, value)]));
  const entry = Buffer.concat([
    bytesField(2, broken),
    pair(Buffer.from('user'), broken),
    pair(broken, Buffer.from('y')),
    pair(Buffer.from('host'), broken),
    pair(Buffer.from('hostname'), broken),
  ]);
  const labels = bytesField(1, Buffer.from('{b="\xff"}', 'latin1'));
  const body = bytesField(1, Buffer.concat([bytesField(2, entry), labels]));
  const [row] = await rowsOf(body, protobuf);
  assert.equal(row?.body, 'a\ufffd');
  assert.equal(row.host, 'a\ufffd');
  assert.deepEqual(
    row.logAttributes,
    new Map([
      ['b', '\ufffd'],
      ['user', 'a\ufffd'],
      ['a\ufffd', 'y'],
      ['hostname', 'a\ufffd'],
    ]),
  );
});

suite('refuses', () => {
  const bodies: readonly (readonly [string, RegExp])[] = [
    ['[]', /an object/],
    ['{}', /an object with "streams"/],
    ['{"streams":{}}', /an array of streams/],
    ['{"streams":[7]}', /a stream/],
    ['{"streams":[{"stream":[]}]}', /an object of labels/],
    ['{"streams":[{"values":{}}]}', /an array of entries/],
    ['{"streams":[{"labels":"{}","entries":[{"ts":"","line":""}]}]}', /cannot find "values"/],
    ['{"streams":[{"values":["a"]}]}', /\[time, line\]/],
    ['{"streams":[{"values":[[1,"a"]]}]}', /a time in quotes/],
    ['{"streams":[{"values":[["1"]]}]}', /','/],
    ['{"streams":[{"values":[["1","a",7]]}]}', /an object of labels/],
    ['{"streams":[{"values":[["1","a",{},1]]}]}', /']'/],
    ['{"streams":[]} x', /the end of the body/],
    ['{"streams":[{"values":[["1","a"]', /ends at byte/],
  ];
  for (const [body, message] of bodies) {
    test(body, async () => {
      await assert.rejects(decode(Buffer.from(body), json), (error) => {
        assert.ok(error instanceof AppError);
        assert.equal(error.code, 'malformed');
        assert.match(error.message, message);
        return true;
      });
    });
  }

  for (const labels of ['', 'a="b"', '{a=b}', '{a="b}', '{a="b" c="d"}', '{="b"}']) {
    test(`the labels ${labels}`, async () => {
      const body = bytesField(1, Buffer.concat([text(1, labels), bytesField(2, text(2, 'x'))]));
      if (labels === '') assert.equal((await decode(body, protobuf)).rows, 1);
      else await assert.rejects(decode(body, protobuf), /cannot read the labels of a stream/);
    });
  }
});

test('an invalid entry is 400 while the others are stored', async () => {
  const values = '[["1","a",{"host":1}],["2","b"]]';
  const batch = await decode(Buffer.from(`{"streams":[{"values":${values}}]}`), json);
  assert.equal(batch.rows, 1);
  assert.deepEqual(loki.reply(batch, formatOf(json)), {
    status: 400,
    contentType: 'text/plain; charset=utf-8',
    body: 'cannot store 1 of 2 entries (1 host is not a string), the other 1 are stored\n',
  });
});

test('protobuf is in snappy, JSON is not', () => {
  const body = Buffer.from('x');
  const codingOf = (type: string, coding: BodyFormat['coding']) =>
    loki.unframe?.(body, formatOf(type, coding)).coding;
  assert.equal(codingOf(protobuf, 'identity'), 'snappy');
  assert.equal(codingOf(protobuf, 'snappy'), 'snappy');
  assert.equal(codingOf(json, 'gzip'), 'gzip');
  assert.throws(() => codingOf(protobuf, 'gzip'), { code: 'unsupported_media' });
  assert.throws(() => codingOf(json, 'snappy'), { code: 'unsupported_media' });
});
