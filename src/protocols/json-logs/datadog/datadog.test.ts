/** Logs in the form of Datadog: what becomes of their fields, and what is refused. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { configSchema } from '../../../config/schema.ts';
import type { Batch } from '../../../model/batch.ts';
import { blankSeriesView } from '../../../../test/harness/blank-series-view.ts';
import { readLogRows } from '../../../../test/protocols/read-log-rows.ts';
import { createDatadog } from './datadog.ts';

const datadog = createDatadog(configSchema.parse({}));
const format = {
  mediaType: 'application/json',
  parameters: new Map(),
  coding: 'identity',
} as const;

async function decode(body: string | Buffer): Promise<Batch> {
  return datadog.decode(Buffer.from(body), format, {
    limits: datadog.limits,
    nowMs: 0,
    series: blankSeriesView,
  });
}

async function rowsOf(...logs: unknown[]) {
  return readLogRows((await decode(JSON.stringify(logs))).payload);
}

test('a log of the Agent', async () => {
  const [row] = await rowsOf({
    message: 'slöw "query"',
    status: 'warn',
    timestamp: 1_795_341_600_123,
    hostname: 'web-1',
    service: 'shop',
    ddsource: 'nodejs',
    ddtags: 'env:prod,version:1.2,zoë:é,env:eu, canary ,,url:http://a',
    http: { status_code: 500 },
  });
  assert.ok(row);
  assert.equal(row.body, 'slöw "query"');
  assert.equal(row.severityText, 'WARN');
  assert.equal(row.timestamp, 1_795_341_600_123_000_000n);
  assert.equal(row.host, 'web-1');
  assert.equal(row.serviceName, 'shop');
  const labels = row.logAttributes as ReadonlyMap<string, string>;
  assert.deepEqual(labels.get('ddsource'), 'nodejs');
  assert.deepEqual(
    ['env', 'version', 'zoë', 'canary', 'url'].map((name) => labels.get(name)),
    ['prod,eu', '1.2', 'é', 'true', 'http://a'],
  );
});

test('fields of the event take precedence over those of Datadog', async () => {
  const [row] = await rowsOf({ message: 'x', severity: 'ERROR', status: 'ok', ddtags: 7 });
  assert.equal(row?.severityText, 'ERROR');
  assert.deepEqual(
    row.logAttributes,
    new Map([
      ['ddtags', '7'],
      ['status', 'ok'],
    ]),
  );
  const [number] = await rowsOf({ message: 'x', status: 404 });
  assert.equal(number?.severityText, '');
  assert.deepEqual(number.logAttributes, new Map([['status', '404']]));
});

test('date is the time without a timestamp', async () => {
  const [dated, both] = await rowsOf(
    { message: 'x', date: 1_795_341_600_123 },
    { message: 'x', timestamp: 1_795_341_600_456, date: 'today' },
  );
  assert.equal(dated?.timestamp, 1_795_341_600_123_000_000n);
  assert.equal(both?.timestamp, 1_795_341_600_456_000_000n);
  assert.deepEqual(both.logAttributes, new Map([['date', 'today']]));
});

test('a tag replaces a field of its name, also with an escape', async () => {
  const [verbatim, escaped] = await rowsOf(
    { message: 'x', env: 'field', ddtags: 'a:b,env:tag, k8s.pod.name:pod' },
    { message: 'x', ddtags: 'env:"tag",env:2', env: 'field' },
  );
  assert.equal(verbatim?.k8sPod, 'pod');
  assert.deepEqual(
    verbatim.logAttributes,
    new Map([
      ['env', 'tag'],
      ['a', 'b'],
      ['k8s.pod.name', 'pod'],
    ]),
  );
  assert.deepEqual(escaped?.logAttributes, new Map([['env', '"tag",2']]));
});

test('tags stay beside an object of labels, in any order', async () => {
  const [before, after] = await rowsOf(
    { message: 'x', ddtags: 'env:prod,team:a', labels: { region: 'eu', team: 'b' } },
    { message: 'x', labels: { region: 'eu', team: 'b' }, ddtags: 'env:prod,team:a' },
  );
  const expected = { region: 'eu', team: 'a', env: 'prod' };
  for (const row of [before, after]) {
    assert.deepEqual(Object.fromEntries(row?.logAttributes as Map<string, string>), expected);
  }
});

test('one log needs no array, and many arrive in order', async () => {
  const [row] = readLogRows((await decode(' {"message":"x"} ')).payload);
  assert.equal(row?.body, 'x');
  const logs = Array.from({ length: 9000 }, (_, i) => ({ message: `${i} ${'x'.repeat(60)}` }));
  const rows = await rowsOf(...logs);
  assert.deepEqual(
    rows.map(({ body }) => body),
    logs.map(({ message }) => message),
  );
});

/** This many different tags. */
function tags(count: number): string {
  return Array.from({ length: count }, (_, n) => n.toString(36)).join(',');
}

for (const probe of ['{}', '[]', '[{}]']) {
  test(`${probe} asks whether logs are taken`, async () => {
    const batch = await decode(probe);
    assert.equal(batch.rows, 0);
    assert.deepEqual(datadog.reply(batch, format), {
      status: 202,
      contentType: 'application/json',
      body: '{}',
    });
  });
}

suite('refuses', () => {
  const bodies: readonly (readonly [string, RegExp])[] = [
    ['', /an object or an array/],
    ['7', /an object or an array/],
    ['[7]', /not an object/],
    ['[{"message":"x"},]', /a value/],
    ['[{"message":"x"} {}]', /',' or '\]'/],
    ['[{"message":"x"}] x', /the end of the body/],
    ['[{"message":"x"', /ends at byte/],
    [`[{"message":"x","ddtags":"${'a,'.repeat(40_000)}"}]`, /ddtags of over 65536 bytes/],
    [`[{"message":"x","ddtags":"${tags(5_000)}"}]`, /more than \d+ labels/],
  ];
  for (const [body, message] of bodies) {
    test(body.slice(0, 40), async () => {
      await assert.rejects(decode(body), (error: Error & { code?: string }) => {
        assert.equal(error.code, 'malformed');
        assert.match(error.message, message);
        return true;
      });
    });
  }
});

test('bytes that are not UTF-8 are repaired', async () => {
  const batch = await decode(Buffer.from('{"message":"caf\xe9"}', 'latin1'));
  assert.equal(readLogRows(batch.payload)[0]?.body, 'caf\ufffd');
  assert.equal(batch.warnings?.size, 1);
});

test('a record of Fluent Bit without a message is its own message', async () => {
  const record = '{"timestamp":1795341600123,"ddsource":"app","level":"error","order":{"id":7}}';
  const batch = await decode(`[${record},{"message":7,"hostname":{"a":1}}]`);
  assert.equal(datadog.reply(batch, format).status, 202);
  const rows = readLogRows(batch.payload);
  assert.deepEqual(
    rows.map(({ body }) => body),
    [record, '7'],
  );
  assert.equal(rows[0]?.severityText, 'ERROR');
});

for (const [ddtags, reason] of [
  [tags(1_001), 'more than 1000 labels'],
  ['a,'.repeat(40_000), 'ddtags of over 65536 bytes'],
] as const) {
  test(`a log with ${reason} is named while the others are stored`, async () => {
    const batch = await decode(`[{"message":"x"},{"message":"x","ddtags":"${ddtags}"}]`);
    assert.equal(batch.rows, 1);
    const { status, body } = datadog.reply(batch, format);
    assert.equal(status, 202);
    const detail = `cannot store 1 of 2 logs (1 ${reason}), the other 1 are stored`;
    assert.deepEqual(JSON.parse(String(body)), {
      errors: [{ status: '400', title: 'Bad Request', detail }],
    });
  });
}
