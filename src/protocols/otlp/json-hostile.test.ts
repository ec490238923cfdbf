/** Hostile OTLP JSON: deep nesting, many elements, damaged bytes. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { writeLogsJson } from '../../../test/protocols/otlp-json.ts';
import {
  decodeJson as decode,
  decodeJsonNow as decodeNow,
  jsonRequestOf as requestOf,
} from '../../../test/protocols/otlp-rows.ts';
import { type LogRow, readLogRows } from '../../../test/protocols/read-log-rows.ts';
import type { Batch } from '../../model/batch.ts';
import { AppError } from '../../model/errors.ts';

const rowsOf = (batch: Batch): LogRow[] => readLogRows(batch.payload);

describe('limits nesting', () => {
  const list = (levels: number) => {
    const open = '{"kvlistValue":{"values":[{"value":';
    return requestOf(`{"attributes":[{"value":${open.repeat(levels)}{}${'}]}}'.repeat(levels)}}]}`);
  };
  const unknown = (levels: number) => requestOf(`{"x":${'['.repeat(levels)}${']'.repeat(levels)}}`);

  test('accepts nested values up to the limit', () => {
    const row = rowsOf(decodeNow(list(64)))[0]!;
    const text = (row.logAttributes as Map<string, string>).get('');
    assert.equal(text, `${'{"":'.repeat(64)}null${'}'.repeat(64)}`);
    assert.throws(() => decodeNow(list(65)), /otlpMaxDepth/);
  });

  test('limits unknown JSON too', () => {
    assert.equal(decodeNow(unknown(200)).rows, 1);
    assert.throws(() => decodeNow(unknown(100_000)), /nested/);
    assert.throws(() => decodeNow('['.repeat(100_000)), AppError);
    assert.throws(() => decodeNow(`{"a":${'{"a":'.repeat(100_000)}`), /nested/);
  });

  test('does not overflow the stack at the largest limit', () => {
    for (const body of [list(370), unknown(1400)]) {
      assert.equal(decodeNow(body, 1000).rows, 1);
    }
    for (const body of [list(1000), unknown(5000)]) {
      assert.throws(() => decodeNow(body, 1000), AppError);
    }
  });
});

describe('a million elements', () => {
  const repeat = (text: string) => Array(1_000_000).fill(text).join();

  test('empty resources yield no rows', async () => {
    const batch = await decode(`{"resourceLogs":[${repeat('{}')}]}`);
    assert.equal(batch.rows, 0);
  });

  test('empty scopes yield no rows', async () => {
    const batch = await decode(`{"resourceLogs":[{"scopeLogs":[${repeat('{"scope":{}}')}]}]}`);
    assert.equal(batch.rows, 0);
  });

  test('records exceed the limit', async () => {
    const body = `{"resourceLogs":[${repeat('{"scopeLogs":[{"logRecords":[{}]}]}')}]}`;
    await assert.rejects(async () => decode(body), /otlpMaxRecords/);
  });

  test('unknown keys are skipped', async () => {
    assert.equal((await decode(requestOf(`{${repeat('"a_b":0')}}`))).rows, 1);
  });

  test('attributes are capped at a thousand', async () => {
    const batch = await decode(requestOf(`{"attributes":[${repeat('{"key":"a"}')}]}`));
    assert.equal((rowsOf(batch)[0]!.logAttributes as Map<string, string>).get('a'), '');
  });

  test('elements reject their record only', async () => {
    for (const kind of ['arrayValue', 'kvlistValue']) {
      const record = `{"body":{"${kind}":{"values":[${repeat('{}')}]}}}`;
      const batch = await decode(requestOf(`{},${record},{}`));
      assert.deepEqual([batch.rows, batch.rejectedCount], [2, 1]);
      assert.equal(batch.rejected[0]!.index, 1);
      assert.match(batch.rejected[0]!.reason, /more than 100000 elements/);
    }
  });
});

describe('damaged bodies', () => {
  const request = {
    resourceLogs: [
      {
        resource: { attributes: [{ key: 'service.name', value: { stringValue: 's' } }] },
        scopeLogs: [
          {
            scope: { name: 'n', version: '1' },
            logRecords: [
              {
                timeUnixNano: '1544712660300000001',
                severityNumber: 9,
                severityText: 'info',
                traceId: new Uint8Array(16).fill(7),
                spanId: new Uint8Array(8).fill(7),
                body: { kvlistValue: { values: [{ key: 'k', value: { doubleValue: 1.5 } }] } },
                attributes: [
                  { key: 'a', value: { arrayValue: { values: [{ intValue: '-5' }, {}] } } },
                  { key: 'b', value: { bytesValue: new Uint8Array([1, 2, 250]) } },
                ],
              },
            ],
            schemaUrl: 'u',
          },
        ],
      },
    ],
  };

  test('fail with AppError or are valid JSON', () => {
    const damage = fc.array(fc.tuple(fc.nat(2000), fc.nat(255)), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(fc.integer(), damage, fc.nat(3), (seed, bytes, kind) => {
        let body = Buffer.from(writeLogsJson(request, seed));
        for (const [at, byte] of bytes) body[at % body.length] = byte;
        if (kind === 0) body = body.subarray(0, bytes[0]![0] % body.length);
        let batch: Batch;
        try {
          batch = decodeNow(body);
        } catch (error) {
          assert.ok(error instanceof AppError, String(error));
          return;
        }
        JSON.parse(body.toString());
        assert.equal(rowsOf(batch).length, batch.rows);
      }),
      { numRuns: 3000 },
    );
  });
});
