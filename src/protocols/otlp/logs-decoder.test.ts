/** Decoding in slices, and concurrent bodies. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { bytesField } from '../../../test/harness/proto-wire.ts';
import { countTurns } from '../../../test/harness/count-turns.ts';
import { encodeLogsRequest } from '../../../test/protocols/otlp-proto.ts';
import { readLogRows } from '../../../test/protocols/read-log-rows.ts';
import { AppError } from '../../model/errors.ts';
import { createLogsDecoder, readJsonLogs } from './otlp-logs.ts';
import { readProtobufLogs } from './protobuf-logs.ts';

const limits = { maxEvents: 1 << 20, maxDepth: 4, maxRejections: 3 };
const million = 1 << 20;
const emptyResource = Buffer.from([0x0a, 0]);
const emptyScope = Buffer.from([0x12, 0]);
const emptyRecord = Buffer.from([0x12, 0]);

function requestOf(name: string, records: number): Buffer {
  const attributes = [{ key: 'service.name', value: { stringValue: name } }];
  const logRecords = Array.from({ length: records }, (_, i) => ({
    body: { stringValue: `${name} ${i} ${'x'.repeat(200)}` },
    attributes,
  }));
  return encodeLogsRequest({
    resourceLogs: [{ resource: { attributes }, scopeLogs: [{ logRecords }] }],
  });
}

describe('concurrent bodies', () => {
  test('yield separate batches', async () => {
    const decode = createLogsDecoder();
    const requests = [
      ['one', 9000],
      ['two', 7000],
      ['three', 3],
    ] as const;
    const batches = await Promise.all(
      requests.map(async ([name, records]) =>
        decode(requestOf(name, records), readProtobufLogs, limits),
      ),
    );
    for (const [i, [name, records]] of requests.entries()) {
      const rows = readLogRows(batches[i]!.payload);
      assert.equal(rows.length, records);
      assert.ok(rows.every((row) => row.serviceName === name));
      assert.ok(rows.every((row, at) => String(row.body).startsWith(`${name} ${at} `)));
    }
  });

  test('are unaffected by one that fails late', async () => {
    const decode = createLogsDecoder();
    const broken = Buffer.concat([requestOf('broken', 9000), Buffer.from([0x0e])]);
    const results = await Promise.allSettled([
      decode(broken, readProtobufLogs, limits),
      decode(requestOf('whole', 9000), readProtobufLogs, limits),
    ]);
    assert.ok(results[0].status === 'rejected' && results[0].reason instanceof AppError);
    assert.ok(results[1].status === 'fulfilled' && results[1].value.rows === 9000);
    for (let i = 0; i < 3; i += 1) {
      const batch = await decode(requestOf('next', 2), readProtobufLogs, limits);
      assert.deepEqual([batch.rows, readLogRows(batch.payload).length], [2, 2]);
      assert.deepEqual(batch.warnings, new Map());
    }
  });
});

describe('a million tiny messages', () => {
  const cases: [string, Buffer, number][] = [
    ['resources', Buffer.alloc(2 * million, emptyResource), 0],
    ['scopes', bytesField(1, Buffer.alloc(2 * million, emptyScope)), 0],
    ['records', bytesField(1, bytesField(2, Buffer.alloc(million, emptyRecord))), million / 2],
    [
      'resources with a record each',
      Buffer.alloc(3 * million, bytesField(1, bytesField(2, emptyRecord))),
      million / 2,
    ],
  ];
  for (const [name, body, rows] of cases) {
    test(`${name} yields to others and releases its memory`, async () => {
      const decode = createLogsDecoder();
      const decoding = decode(body, readProtobufLogs, limits);
      assert.ok(decoding instanceof Promise);
      assert.ok((await countTurns(() => decoding)) > 30);
      const batch = await decoding;
      assert.equal(batch.rows, rows);
      assert.ok(batch.payload.length <= 40 * rows);
    });
  }

  test('yields per MiB of rows that are far larger than the body', async () => {
    const attributes = [{ key: 'big', value: { stringValue: 'x'.repeat(5000) } }];
    const logs = {
      resourceLogs: [
        {
          resource: { attributes },
          scopeLogs: [{ logRecords: Array.from({ length: 4000 }, () => ({})) }],
        },
      ],
    };
    const bodies = [
      [encodeLogsRequest(logs), readProtobufLogs],
      [Buffer.from(JSON.stringify(logs)), readJsonLogs],
    ] as const;
    for (const [body, open] of bodies) {
      const decoding = createLogsDecoder()(body, open, limits);
      const turns = await countTurns(() => decoding);
      const { payload } = await decoding;
      assert.ok(payload.length > 18 * million && turns > 15, String(turns));
    }
  });

  test('rejects large resources before they become many bytes', async () => {
    const decode = createLogsDecoder();
    const attribute = bytesField(
      1,
      Buffer.concat([
        bytesField(1, Buffer.from('big')),
        bytesField(2, bytesField(1, Buffer.alloc(1 << 20, 'x'))),
      ]),
    );
    const records = Buffer.alloc(2 * million, emptyRecord);
    const body = bytesField(1, Buffer.concat([bytesField(1, attribute), bytesField(2, records)]));
    await assert.rejects(
      async () => decode(body, readProtobufLogs, limits),
      (error) => error instanceof AppError && error.code === 'too_large',
    );
  });
});
