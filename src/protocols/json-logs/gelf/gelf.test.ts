/** Messages of GELF: what becomes of their fields, and what is refused. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configSchema } from '../../../config/schema.ts';
import type { Batch } from '../../../model/batch.ts';
import { blankSeriesView } from '../../../../test/harness/blank-series-view.ts';
import { readLogRows } from '../../../../test/protocols/read-log-rows.ts';
import { createGelf } from './gelf.ts';

const gelf = createGelf(configSchema.parse({}));
const format = {
  mediaType: '',
  parameters: new Map<string, string>(),
  coding: 'identity',
} as const;

async function decode(body: string): Promise<Batch> {
  const { limits } = gelf;
  return gelf.decode(Buffer.from(body), format, { limits, nowMs: 0, series: blankSeriesView });
}

async function rowsOf(...messages: object[]) {
  const body = messages.map((message) => JSON.stringify(message)).join('');
  return readLogRows((await decode(body)).payload);
}

test('a message', async () => {
  const [row] = await rowsOf({
    version: '1.1',
    host: 'web-1',
    short_message: 'failed',
    full_message: 'failed\nat a',
    timestamp: 1795341600.123,
    level: 3,
    _service: 'shop',
    _user: 'zoë',
    _n: 1.5,
    _version: '2',
    _host: 'inner',
    _level: 'high',
    __x: 1,
    facility: 'app',
  });
  assert.ok(row);
  assert.deepEqual(
    [row.body, row.host, row.severityText, row.severityNumber, row.serviceName],
    ['failed', 'web-1', 'ERR', 17, 'shop'],
  );
  assert.equal(row.timestamp, 1_795_341_600_123_000_000n);
  assert.deepEqual(
    row.logAttributes,
    new Map([
      ['full_message', 'failed\nat a'],
      ['user', 'zoë'],
      ['n', '1.5'],
      ['_version', '2'],
      ['_host', 'inner'],
      ['_level', 'high'],
      ['_x', '1'],
      ['facility', 'app'],
    ]),
  );
});

test('additional fields that are numbers where JSON events have texts', async () => {
  const [row] = await rowsOf({
    short_message: 'paid',
    level: 4,
    _severity: 3,
    _message: 7,
    _service_name: 1,
    _service_namespace: 2.5,
    _labels: 'text',
  });
  assert.deepEqual([row?.body, row?.severityText, row?.serviceName], ['paid', 'WARNING', '']);
  assert.deepEqual(Object.fromEntries(row?.logAttributes as Map<string, string>), {
    severity: '3',
    message: '7',
    service_name: '1',
    service_namespace: '2.5',
    labels: 'text',
  });
});

test('several messages, of which one is invalid', async () => {
  const batch = await decode(
    '{"short_message":"a"}{"host":"b"}\n{"short_message":1}{"short_message":"d"}',
  );
  assert.deepEqual(
    readLogRows(batch.payload).map(({ body }) => body),
    ['a', 'd'],
  );
  assert.deepEqual(
    batch.rejected.map(({ reason }) => reason),
    ['short_message is missing: line 1', 'short_message is not a string: line 2'],
  );
});

test('nothing valid is refused', async () => {
  await assert.rejects(decode('{"host":"b"}'), /any of 1 events; the first: short_message is/);
});
