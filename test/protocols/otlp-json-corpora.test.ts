/**
 * The examples of opentelemetry-proto (github.com/open-telemetry/opentelemetry-proto, examples/),
 * if present beside the checkout or at WEIR_CORPORA.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Batch } from '../../src/model/batch.ts';
import {
  createLogsDecoder,
  readJsonLogs,
  type ReadLogs,
} from '../../src/protocols/otlp/otlp-logs.ts';
import { jsonWarnings } from '../../src/protocols/otlp/json-fields.ts';
import { readProtobufLogs } from '../../src/protocols/otlp/protobuf-logs.ts';
import { encodeLogsRequest, type LogsRequest } from './otlp-proto.ts';
import { type LogRow, readLogRows } from './read-log-rows.ts';

const corpora =
  process.env['WEIR_CORPORA'] ?? fileURLToPath(new URL('../../../shared/corpora', import.meta.url));
const examples = `${corpora}/otlp-proto-examples/examples`;
const skip = existsSync(examples) ? false : 'no test data here: set WEIR_CORPORA';

const limits = { maxEvents: 1000, maxDepth: 64, maxRejections: 3 };
const decoder = createLogsDecoder();

/** @param warnings expected from the decoder. */
function decodeNow(body: Buffer, open: ReadLogs, warnings: readonly string[] = []): Batch {
  const batch = decoder(body, open, limits);
  assert.ok(!(batch instanceof Promise));
  assert.deepEqual([...(batch.warnings?.keys() ?? [])], warnings);
  return batch;
}

/** Ids as base64 for protobufjs; JSON has them in hex. */
function toRequest(json: Buffer): LogsRequest {
  return JSON.parse(json.toString(), (key, value: unknown) =>
    key === 'traceId' || key === 'spanId' ? Buffer.from(String(value), 'hex') : value,
  ) as LogsRequest;
}

describe('examples of opentelemetry-proto', { skip }, () => {
  const cases: [file: string, expected: Partial<LogRow>][] = [
    [
      'logs.json',
      {
        timestamp: 1544712660300000000n,
        observedTimestamp: 1544712660300000000n,
        severityText: 'INFORMATION',
        severityNumber: 10,
        serviceName: 'my.service',
        body: 'Example log record',
        traceId: '5b8efff798038103d269b633813fc60c',
        spanId: 'eee19b7ec3c1b174',
        scopeName: 'my.library',
        scopeVersion: '1.0.0',
        logAttributes: new Map([
          ['string.attribute', 'some string'],
          ['boolean.attribute', 'true'],
          ['int.attribute', '10'],
          ['double.attribute', '637.704'],
          ['array.attribute', '["many","values"]'],
          ['map.attribute', '{"some.map.key":"some value"}'],
        ]),
      },
    ],
    [
      'events.json',
      {
        eventName: 'browser.page_view',
        severityText: 'TEST SEVERITY TEXT',
        severityNumber: 9,
        body:
          '{"type":0,"url":"https://www.guidgenerator.com/online-guid-generator.aspx",' +
          '"referrer":"https://wwww.google.com","title":"Free Online GUID Generator"}',
        scopeAttributes: new Map([['my.scope.attribute', 'some scope attribute']]),
        logAttributes: new Map([['event.attribute', 'some event attribute']]),
      },
    ],
  ];
  for (const [file, expected] of cases) {
    test(`${file} reads as written, the same as in protobuf`, () => {
      const json = readFileSync(`${examples}/${file}`);
      const batch = decodeNow(json, readJsonLogs);
      const rows = readLogRows(batch.payload);
      assert.equal(rows.length, 1);
      for (const [name, value] of Object.entries(expected)) {
        assert.deepEqual(rows[0]![name as keyof LogRow], value, name);
      }
      const ofProtobuf = decodeNow(encodeLogsRequest(toRequest(json)), readProtobufLogs);
      assert.deepEqual(batch.payload, ofProtobuf.payload);
    });
  }

  test('rejects metrics and traces', () => {
    for (const file of ['metrics.json', 'trace.json']) {
      const body = readFileSync(`${examples}/${file}`);
      assert.equal(decodeNow(body, readJsonLogs, [jsonWarnings.notLogs]).rows, 0);
    }
  });
});
