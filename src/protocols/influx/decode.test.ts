/** InfluxDB's line protocol: names, values, times, and lines that are rejected. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { configSchema } from '../../config/schema.ts';
import type { Batch } from '../../model/batch.ts';
import { blankSeriesView } from '../../../test/harness/blank-series-view.ts';
import { seriesState, type SeriesView } from '../../model/series-view.ts';
import { readMetricRows } from '../../../test/protocols/read-metric-rows.ts';
import { createInflux } from './influx.ts';

const nowMs = 1_795_341_600_000;
const format = {
  mediaType: '',
  parameters: new Map<string, string>(),
  coding: 'identity',
} as const;

async function decode(
  body: string | Buffer,
  query = '',
  series: SeriesView = blankSeriesView,
): Promise<Batch> {
  const influx = createInflux(configSchema.parse({}));
  const target = { path: {}, query: new URLSearchParams(query) };
  return influx.decode(Buffer.from(body), format, { limits: influx.limits, nowMs, series, target });
}

/** `name{label="value",…} value @ms` of each sample. */
async function samplesOf(body: string, query = ''): Promise<string[]> {
  const rows = readMetricRows((await decode(body, query)).payload);
  const names = new Map(
    rows.series.map(({ id, labels }) => {
      const name = labels.find(([key]) => key === '__name__')?.[1];
      const others = labels.filter(([key]) => key !== '__name__');
      return [id, `${name!}{${others.map(([key, value]) => `${key}="${value}"`).join(',')}}`];
    }),
  );
  return rows.samples.map(({ id, timeMs, value }) => `${names.get(id)!} ${value} @${timeMs}`);
}

suite('a line', () => {
  const cases: [line: string, ...samples: string[]][] = [
    [
      'cpu,host=web-1,cpu=cpu0 usage_user=12.5,n=3i,u=4u,up=true,down=F 1795341600123456789',
      'cpu_usage_user{cpu="cpu0",host="web-1"} 12.5 @1795341600123',
      'cpu_n{cpu="cpu0",host="web-1"} 3 @1795341600123',
      'cpu_u{cpu="cpu0",host="web-1"} 4 @1795341600123',
      'cpu_up{cpu="cpu0",host="web-1"} 1 @1795341600123',
      'cpu_down{cpu="cpu0",host="web-1"} 0 @1795341600123',
    ],
    ['m value=-1.5e-3', 'm_value{} -0.0015 @1795341600000'],
    ['m a=1 -1', 'm_a{} 1 @-1'],
    ['m a=1 0', 'm_a{} 1 @0'],
    ['  m a=1 1000000\r', 'm_a{} 1 @1'],
    ['my\\ m\\,x,t\\ 1=a\\,b\\=c\\ d,e= f\\ g=1 1000000', 'my_m_x_f_g{t_1="a,b=c d"} 1 @1'],
    ['http.server-x,k8s.pod=é 5xx=2 1000000', 'http_server_x_5xx{k8s_pod="é"} 2 @1'],
    ['5m,1t=a b=2 1000000', '_5m_b{_1t="a"} 2 @1'],
    ['m "q"=1 1000000', 'm__q_{} 1 @1'],
    ['m,t="a\\ b" v=1 1000000', 'm_v{t="\\"a b\\""} 1 @1'.replaceAll('\\"', '"')],
    ['m text="a, b=1 \\" \n c",v=2 1000000', 'm_v{} 2 @1'],
  ];
  for (const [line, ...samples] of cases) {
    test(line, async () => assert.deepEqual(await samplesOf(line), samples));
  }
});

test('times have the precision of the request', async () => {
  const times: [precision: string, sent: string, ms: number][] = [
    ['ns', '1795341600123999999', 1_795_341_600_123],
    ['us', '1795341600123999', 1_795_341_600_123],
    ['u', '-1', -1],
    ['ms', '1795341600123', 1_795_341_600_123],
    ['s', '1795341600', 1_795_341_600_000],
    ['m', '1', 60_000],
    ['h', '2', 7_200_000],
  ];
  for (const [precision, sent, ms] of times) {
    const [sample] = await samplesOf(`m a=1 ${sent}`, `precision=${precision}`);
    assert.equal(sample, `m_a{} 1 @${ms}`);
  }
  await assert.rejects(decode('m a=1', 'precision=d'), {
    code: 'malformed',
    message: /none of ns/,
  });
});

test('the database is a label, unless a tag has its name', async () => {
  assert.deepEqual(await samplesOf('m a=1 0\nm,db=own a=2 0', 'db=telegraf'), [
    'm_a{db="telegraf"} 1 @0',
    'm_a{db="own"} 2 @0',
  ]);
});

suite('a quote that begins no text does not hide the lines after it', () => {
  const lines = ['# 5" disks', 'size_5"=1', 'm,t=5" a=1', 'm size_5"=1', 'm t\\="=1', 'm a=1"'];
  for (const line of lines) {
    test(line, async () => {
      const samples = await samplesOf(`${line}\nm b=2 0\nm c="text",d=3 0`);
      assert.deepEqual(samples.slice(-2), ['m_b{} 2 @0', 'm_d{} 3 @0']);
    });
  }
});

test('texts are not stored, which is a warning', async () => {
  const batch = await decode('m a="x",b=1\nm a="y"\n# comment\n\n');
  assert.equal(batch.rows, 1);
  assert.equal(batch.rejectedCount, 0);
  assert.deepEqual([...(batch.warnings ?? [])], [['text field: a metric has numbers only', 2]]);
});

test('a text of many megabytes', async () => {
  const batch = await decode(`m a="${'\\"'.repeat(6_000_000)}",b=1`);
  assert.equal(batch.rows, 1);
});

suite('a line that cannot be read is rejected alone and stores nothing', () => {
  const cases: [line: string, reason: string][] = [
    ['m', 'no fields'],
    ['m ', 'no fields'],
    ['m a', 'unreadable field'],
    ['m a=', 'unreadable value'],
    ['m good=1,bad=x', 'unreadable value'],
    ['m a=1x', 'unreadable value'],
    ['m a=NaN', 'unreadable value'],
    ['m a=1e999', 'unreadable value'],
    ['m a=1 yesterday', 'unreadable time'],
    ['m a=1 9999999999999999999999', 'unreadable time'],
    [',t=a b=1', 'no measurement'],
    ['m,t b=1', 'a tag without a value'],
    ['m, b=1', 'a tag without a value'],
    ['m,t.a=1,t_a=2 b=1', 'repeated label name'],
    [`m,${'t'.repeat(2000)}=1 b=1`, 'label name too long'],
    [`m ${'f'.repeat(2000)}=1`, 'unreadable field'],
    [`m,t=${'x'.repeat(70_000)} b=1`, 'measurement and tags over 65536 bytes'],
  ];
  for (const [line, reason] of cases) {
    test(line.slice(0, 40), async () => {
      const batch = await decode(`m a=1\n${line}\nm c=3`);
      assert.equal(batch.rows, 2);
      assert.deepEqual(batch.rejected, [{ index: 1, reason: `${reason}: line 2` }]);
      await assert.rejects(decode(line), { code: 'malformed' });
    });
  }
});

test('series beyond the limit of the account are rejected alone', async () => {
  let looked = 0;
  const series: SeriesView = {
    ...blankSeriesView,
    look: () => (looked++ === 1 ? seriesState.refused : seriesState.new),
  };
  const batch = await decode('m a=1,b=2,c=3', '', series);
  assert.equal(batch.rows, 2);
  assert.deepEqual([...batch.rejectedByReason], [['too many series of the account today', 1]]);
});
