/** InfluxDB's client library against the real service. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { InfluxDB, Point } from '@influxdata/influxdb-client';
import { readMetrics } from '../harness/metrics.ts';
import { toNumber } from '../harness/prompb.ts';
import { startService, type Service } from '../harness/service.ts';
import { until } from '../harness/until.ts';

let service: Service;
before(async () => {
  service = await startService();
});
after(() => service.stop());

function openWriteApi(path: string, token = service.quickstart.receivers.prometheus.token) {
  const { ingestUrl, caFile } = service.quickstart;
  const influx = new InfluxDB({
    url: `${ingestUrl}${path}`,
    token,
    transportOptions: { ca: readFileSync(caFile) },
  });
  const options = { maxRetries: 0, gzipThreshold: 100, writeFailed: () => undefined };
  return influx.getWriteApi('any', 'any', 'ms', options);
}

test('@influxdata/influxdb-client', async () => {
  const { receiverId } = service.quickstart.receivers.prometheus;
  const writeApi = openWriteApi(`/v1/receivers/${receiverId}/influx`);
  const startMs = Date.now() - 60_000;
  for (let n = 0; n < 300; n += 1) {
    writeApi.writePoint(
      new Point('http')
        .tag('host', `web ${n % 3}`)
        .floatField('seconds', n / 8)
        .intField('count', n)
        .booleanField('up', true)
        .stringField('note', 'a, b=c')
        .timestamp(startMs + n),
    );
  }
  await writeApi.close();
  const series = await until(
    async () => {
      const found = await readMetrics(service, { __name__: 'http_seconds' });
      return found.reduce((sum, { samples }) => sum + samples.length, 0) >= 300 && found;
    },
    { what: 'all samples' },
  );
  assert.deepEqual(
    new Set(series.map(({ labels }) => labels['host'])),
    new Set(['web 0', 'web 1', 'web 2']),
  );
  const first = series.find(({ labels }) => labels['host'] === 'web 0');
  assert.deepEqual(
    first?.samples.map(({ timeMs, bits }) => [Number(timeMs), toNumber(bits)]),
    Array.from({ length: 100 }, (_, n) => [startMs + 3 * n, (3 * n) / 8]),
  );
  assert.equal((await readMetrics(service, { __name__: 'http_note' })).length, 0);
});

test('learns which line is invalid, over the address of all', async () => {
  const writeApi = openWriteApi('');
  writeApi.writeRecords(['parts,n=1 value=1', 'parts,n=2 value=x', 'parts,n=3 value=3']);
  await assert.rejects(writeApi.close(), { statusCode: 400, message: /unreadable value: line 2/ });
  await until(async () => (await readMetrics(service, { __name__: 'parts_value' })).length === 2, {
    what: 'the other lines',
  });
});

test('is refused with a wrong token', async () => {
  const writeApi = openWriteApi('', 'wri_wrong');
  writeApi.writeRecord('m a=1');
  await assert.rejects(writeApi.close(), { statusCode: 401 });
});
