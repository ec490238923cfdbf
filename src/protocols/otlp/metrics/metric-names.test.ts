/** Names of metrics, labels and units. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type NamedType,
  toLabelName,
  toMetricName,
  toNameRules,
  toUnitName,
} from './metric-names.ts';

const suffixed = toNameRules('UnderscoreEscapingWithSuffixes');
const plain = toNameRules('UnderscoreEscapingWithoutSuffixes');
const utf8 = toNameRules('NoUTF8EscapingWithSuffixes');
const untouched = toNameRules('NoTranslation');

test('names a metric after its unit and type', () => {
  const names: [name: string, unit: string, type: NamedType, expected: string][] = [
    ['http.server.request.duration', 's', 'other', 'http_server_request_duration_seconds'],
    ['requests', '', 'counter', 'requests_total'],
    ['requests.total.count', '{request}', 'counter', 'requests_count_total'],
    ['network.io', 'By/s', 'gauge', 'network_io_bytes_per_second'],
    ['io_bytes', 'By', 'counter', 'io_bytes_total'],
    ['cpu.utilization', '1', 'gauge', 'cpu_utilization_ratio'],
    ['errors', '1', 'other', 'errors'],
    ['speed', 'foo.bar/{thing}', 'gauge', 'speed_foo_bar'],
    ['2xx', '', 'gauge', '_2xx'],
    ['a__b', '', 'gauge', 'a_b'],
    ['日本', '', 'gauge', ''],
    ['', '', 'gauge', ''],
  ];
  for (const [name, unit, type, expected] of names) {
    assert.equal(toMetricName({ name, unit, type }, suffixed), expected, name);
  }
});

test('escapes without suffixes, keeps UTF-8 with them, or translates nothing', () => {
  const metric = { name: 'сеть.io', unit: 'By', type: 'counter' } as const;
  assert.equal(toMetricName({ ...metric, name: 'net.io' }, plain), 'net_io');
  assert.equal(toMetricName(metric, utf8), 'сеть.io_bytes_total');
  assert.equal(toMetricName(metric, untouched), 'сеть.io');
});

test('names labels, and none of underscores alone', () => {
  for (const [key, expected] of [
    ['http.method', 'http_method'],
    ['2xx', 'key_2xx'],
    ['_hidden', 'key_hidden'],
    ['__meta__', '__meta__'],
    ['a..b', 'a__b'],
    ['...', undefined],
    ['', undefined],
  ] as const) {
    assert.equal(toLabelName(key, suffixed), expected, key);
  }
  assert.equal(toLabelName('http.method', utf8), 'http.method');
});

test('names units', () => {
  assert.deepEqual(['s', 'By/s', '1', '{x}', 'MiBy', 'm/h', ''].map(toUnitName), [
    'seconds',
    'bytes_per_second',
    '',
    '',
    'mebibytes',
    'meters_per_hour',
    '',
  ]);
});
