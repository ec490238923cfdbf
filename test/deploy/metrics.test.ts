/** Dashboard, rules and runbook use metrics that a running Weir has. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { metricTables } from '../../src/telemetry/metrics.ts';
import { sendPlain } from '../harness/http.ts';
import { joinService } from '../harness/joined-service.ts';
import type { Service } from '../harness/service.ts';
import { mentionsOf, readFiles, unknownOf } from './files.ts';

/** Metrics of nodes with servers or workers, which do not run here. */
const scaledOnly = [
  'weir_directory_connected',
  'weir_queue_connected',
  'weir_queue_publish_failures_total',
  'weir_queue_publish_seconds',
  'weir_quota_store_connected',
  'weir_quota_store_failures_total',
  'weir_quota_store_seconds',
  'weir_worker_ends_total',
  'weir_workers_running',
];

let service: Service | undefined;
let exposition: string;

before(async () => {
  service = await joinService();
  ({ text: exposition } = await sendPlain(`${service.quickstart.opsUrl}/metrics`));
});

after(() => service?.stop());

test('every metric that is mentioned exists', () => {
  const types = [...exposition.matchAll(/^# TYPE (\S+) (\S+)$/gm)];
  const known = new Map(types.map(([, name = '', type = '']) => [name, type]));
  for (const name of scaledOnly) {
    assert.ok(!known.has(name), `${name} is on every node`);
    known.set(name, name.endsWith('_seconds') ? 'histogram' : 'other');
  }
  const isKnown = (name: string) => {
    const base = name.replace(/_(?:bucket|count|sum)$/, '');
    return known.has(name) || known.get(base) === 'histogram';
  };
  const files = [
    ...readFiles('deploy/**/*.{json,yaml}'),
    ...readFiles('docs/{runbook*,operating,sizing,live-tail}.md'),
  ];
  // Names of NATS streams have the same prefix.
  const mentions = mentionsOf(files, /\bweir_(?!\d|quarantine\b)[a-z0-9_]+/g);
  assert.ok(mentions.size > 30);
  assert.deepEqual(unknownOf(mentions, isKnown), []);
});

test('the table has the metrics of scaled-out parts', () => {
  const names = new Set(metricTables.flatMap(([, table]) => Object.keys(table)));
  assert.deepEqual(
    scaledOnly.filter((name) => !names.has(name)),
    [],
  );
});
