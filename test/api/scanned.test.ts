/** Reads of logs say how many rows and bytes of the store they took. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { joinService } from '../harness/joined-service.ts';
import type { Parameters, Service } from '../harness/service.ts';
import { until } from '../harness/until.ts';

const count = 500;

let service: Service;
before(async () => {
  service = await joinService();
  const events = Array.from({ length: count }, (_, i) => ({ message: `scanned ${i}` }));
  assert.equal((await service.postLogs(events)).status, 202);
  await until(async () => (await service.facet('severity')).total === count, { what: 'all logs' });
});
after(() => service.stop());

async function scannedBy(path: string, parameters: Parameters) {
  const { status, headers, text } = await service.read(path, parameters);
  assert.equal(status, 200, text);
  const { 'x-weir-scanned-rows': rows, 'x-weir-scanned-bytes': bytes } = headers;
  return { rows: Number(rows), bytes: Number(bytes) };
}

test('a search that excludes every log has scanned them all', async () => {
  const { rows, bytes } = await scannedBy('/logs', { search: 'scanned -scanned' });
  assert.ok(rows >= count, `${rows} rows`);
  assert.ok(bytes > count * 8, `${bytes} bytes`);
});

test('a range without logs has scanned none', async () => {
  const range = { sinceTime: '2001-01-01T00:00:00Z', untilTime: '2001-01-02T00:00:00Z' };
  assert.equal((await scannedBy('/logs', range)).rows, 0);
});

test('counts report what they scanned', async () => {
  const search = 'scanned';
  const range = { startTime: '2020-01-01T00:00:00Z', endTime: '2100-01-01T00:00:00Z' };
  for (const [path, parameters] of [
    ['/histogram', { ...range, search }],
    ['/facets', { field: 'host', search }],
    ['/fields', { search }],
    ['/fields/host/values', { search }],
    ['/stats', { ...range, by: 'host', search }],
    ['/compare', { ...range, baselineFrom: range.startTime, search }],
    ['/facets/batch', { fields: 'host,service', search }],
  ] as const) {
    const { rows } = await scannedBy(path, parameters);
    assert.ok(rows >= count, `${path}: ${rows} rows`);
  }
});
