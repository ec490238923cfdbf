/** Times and label names of Prometheus' API. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import {
  instantQuery,
  metadataQuery,
  parseMetricTime,
  rangeQuery,
  seriesQuery,
  statusQuery,
  unescapeLabelName,
  withMetricQuery,
} from './requests.ts';

const times: readonly (readonly [string, bigint | undefined])[] = [
  ['0', 0n],
  ['1700000000', 1_700_000_000_000n],
  ['1700000000.123', 1_700_000_000_123n],
  ['1700000000.1236', 1_700_000_000_124n],
  ['1.7e9', 1_700_000_000_000n],
  ['-1.5', -1500n],
  ['1e300', 2n ** 63n - 1n],
  ['-1e300', -(2n ** 63n)],
  ['9223372036854775.807', 2n ** 63n - 1n],
  ['2026-04-01T08:30:00Z', 1_775_032_200_000n],
  ['2026-04-01T08:30:00.123456789Z', 1_775_032_200_123n],
  ['2026-04-01T10:30:00+02:00', 1_775_032_200_000n],
  ['2026-04-01T10:30:00 02:00', 1_775_032_200_000n],
  ['-292273086-05-16T16:47:06Z', -(2n ** 63n)],
  ['292277025-08-18T07:12:54.999999999Z', 2n ** 63n - 1n],
  ['', undefined],
  ['now', undefined],
  ['NaN', undefined],
  ['Inf', undefined],
  ['0x10', undefined],
  ['1_000', undefined],
  ['1e', undefined],
  ['.', undefined],
  ['2026-04-01', undefined],
  ['2026-02-30T00:00:00Z', undefined],
  ['1969-12-31T23:59:59.25Z', -750n],
  ['0000-01-01T00:00:00Z', -62_167_219_200_000n],
  ['9999-12-31T23:59:59.999Z', 253_402_300_799_999n],
];

suite('times', () => {
  for (const [text, expected] of times) {
    test(JSON.stringify(text), () => assert.equal(parseMetricTime(text), expected));
  }
});

suite('empty values', () => {
  const read = (schema: typeof instantQuery | typeof seriesQuery, search: string) =>
    withMetricQuery(schema, async (query) => query).read({ search: new URLSearchParams(search) });

  test('are absent ones', async () => {
    const options = 'time=&timeout=&limit=&lookback_delta=&stats=';
    assert.deepEqual(await read(instantQuery, `query=up&${options}`), { query: 'up' });
  });

  test('are faults of an expression, a selector and a stream', async () => {
    assert.deepEqual(await read(instantQuery, 'query='), { query: '' });
    assert.deepEqual(await read(seriesQuery, 'match[]='), { 'match[]': [''] });
    await assert.rejects(
      read(instantQuery, 'query=up&streamId='),
      /streamId "": it must be a UUID/,
    );
  });
});

const steps: readonly (readonly [text: string, ms: number])[] = [
  ['15', 15_000],
  ['0.29', 290],
  ['1.0006', 1000],
  ['0.0019', 1],
  ['1m30s', 90_000],
];

suite('steps', () => {
  for (const [text, ms] of steps) {
    test(text, async () => {
      const search = new URLSearchParams({ query: 'up', start: '0', end: '9', step: text });
      const read = withMetricQuery(rangeQuery, async ({ step }) => step).read;
      assert.equal(await read({ search }), ms);
    });
  }
});

test('a limit of the status is at least 1', async () => {
  const { read } = withMetricQuery(statusQuery, async ({ limit }) => limit);
  const ask = (limit: string) => read({ search: new URLSearchParams({ limit }) });
  assert.equal(await ask('1'), 1);
  await assert.rejects(async () => ask('0'), /limit "0": it must be a whole number from 1/);
});

test('a negative limit of metadata is none', async () => {
  const { read } = withMetricQuery(metadataQuery, async (query) => query);
  const ask = (text: string) => read({ search: new URLSearchParams(text) });
  assert.deepEqual(await ask('limit=-1&limit_per_metric=-7'), { limit: -1, limit_per_metric: -7 });
  await assert.rejects(async () => ask('limit=-1.5'), /limit "-1.5": it must be a whole number/);
});

const names: readonly (readonly [string, string])[] = [
  ['job', 'job'],
  ['k8s.pod', 'k8s.pod'],
  ['U__k8s_2e_pod', 'k8s.pod'],
  ['U__k8s_2E_pod', 'k8s.pod'],
  ['U__my__name', 'my_name'],
  ['U___1F600_', '😀'],
  ['U__a_1f600_b_e9_', 'a😀bé'],
  ['U__', ''],
  ['U__plain', 'plain'],
  ['U__open_2e', 'U__open_2e'],
  ['U__open_', 'U__open_'],
  ['U__bad_zz_', 'U__bad_zz_'],
  ['U__far_1234567_', 'U__far_1234567_'],
  ['U__far_110000_', 'U__far_110000_'],
  ['U__half_d800_', 'U__half_d800_'],
  ['u__a_2e_b', 'u__a_2e_b'],
];

suite('label names', () => {
  for (const [text, expected] of names) {
    test(text, () => assert.equal(unescapeLabelName(text), expected));
  }
});
