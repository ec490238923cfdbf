/** Links between logs and metrics. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Log } from '../api/models.ts';
import { toLogsOfSeries } from './logs-of-series.ts';
import { toMetricsOfLog } from './metrics-of-log.ts';

const time = { fromMs: 0, untilMs: 60_000 };
const queryOf = (labels: Record<string, string>, ...logLabels: string[]) =>
  new URL(
    toLogsOfSeries({ labels, logLabels: new Set(logLabels), ...time }),
    'http://x',
  ).searchParams.get('query');

test('labels of a series select the fields and labels that logs have', () => {
  const labels = { __name__: 'up', job: 'shop', instance: 'web-1:9100', le: '0.5', site: 'a b' };
  assert.equal(queryOf(labels, 'site', 'job'), '(service:shop OR job:shop) host:web-1 site:"a b"');
  assert.equal(queryOf({ __name__: 'up', le: '1' }), null);
  const route = { http_route: '/a', le: '1' };
  assert.equal(queryOf(route, 'http.route'), 'http.route:"/a"');
  assert.equal(
    queryOf(route, 'http.route', 'http_route', 'other'),
    'http.route:"/a" OR http_route:"/a"',
  );
});

test('a log leads to the metrics of its service, host and pod', () => {
  const log = {
    timestamp: '2026-04-01T08:30:00.000Z',
    serviceName: 'shop',
    host: '',
    kubernetes: { namespace: '', pod: 'shop-1' },
  } as Log;
  const { searchParams } = new URL(toMetricsOfLog(log)!, 'http://x');
  assert.deepEqual(searchParams.getAll('of'), ['serviceName:shop', 'k8sPod:shop-1']);
  assert.equal(searchParams.get('from'), '2026-04-01T08:00:00.000Z');
  const kubernetes = { ...log.kubernetes, pod: '' };
  assert.equal(toMetricsOfLog({ ...log, serviceName: '', kubernetes }), undefined);
});
