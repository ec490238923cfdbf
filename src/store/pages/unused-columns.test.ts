/** Columns without a value: by a look at a store, and by what is inserted meanwhile. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { logRowFields } from '../../codec/log-rows.ts';
import { stampedBatch, type LogFixture } from '../../../test/store/log-row-fixture.ts';
import { columnOf } from '../sql/log-record.ts';
import type { Statement } from '../sql/statement.ts';
import { findUnusedColumns, readWithout } from './unused-columns.ts';

const owner = { accountId: 'a', streamId: 's', receiverId: 'r' };
const batchOf = (log: Partial<LogFixture>) => stampedBatch([log], { owner, receivedAtNanos: 1n });

/** A store whose rows have values in these columns only. */
function startLook(used: readonly string[], during: (column: string) => void = () => undefined) {
  const query = async <Row>(_pool: string, { sql }: Statement): Promise<Row[]> => {
    const column = /WHERE (?:notEmpty\()?(\w+)/.exec(sql)![1]!;
    during(column);
    if (column === 'SpanId' && !used.includes(column)) throw new Error('cannot read');
    return used.includes(column) ? [[1] as Row] : [];
  };
  return findUnusedColumns({ query }, 'weir');
}

test('all columns count as used until the store was looked at', async () => {
  const columns = startLook(['Body', 'Host']);
  assert.deepEqual(columns.names(), new Set());
  await columns.found;
  const names = columns.names();
  assert.deepEqual(
    ['Body', 'Host', 'K8sPod', 'ResourceAttributes', 'TraceFlags'].map((name) => names.has(name)),
    [false, false, true, true, true],
  );
  assert.ok(!names.has('SpanId'), 'a column that cannot be read counts as used');
});

test('a column is used from its first value on', async () => {
  const columns = startLook(['Body']);
  await columns.found;
  const before = columns.names();
  columns.inserting([batchOf({ body: 'b', severityNumber: 9 }), batchOf({ k8sPod: 'p' })]);
  const added = [...before].filter((name) => !columns.names().has(name)).sort();
  assert.deepEqual(added, ['K8sPod', 'SeverityNumber']);
});

test('a value inserted during the look counts', async () => {
  const columns = startLook(['Body'], (column) => {
    if (column !== 'K8sNode') return;
    columns.inserting([batchOf({ k8sPod: 'p', k8sNode: 'n', k8sCluster: 'c' })]);
  });
  await columns.found;
  const names = columns.names();
  const pods = ['K8sCluster', 'K8sNode', 'K8sPod', 'K8sContainer'];
  assert.deepEqual(
    pods.map((name) => names.has(name)),
    [false, false, false, true],
  );
});

test('rows are not searched once each column is used', async (context) => {
  const columns = startLook(logRowFields.map(columnOf));
  await columns.found;
  const batch = batchOf({});
  const payload = context.mock.fn(() => batch.payload);
  columns.inserting([Object.defineProperty(batch, 'payload', { get: payload })]);
  assert.equal(payload.mock.callCount(), 0);
});

test('reads again when a row with a value is inserted during a read', async () => {
  const columns = startLook(['Body']);
  await columns.found;
  const reads: boolean[] = [];
  const rows = await readWithout(columns, async (unused) => {
    reads.push(unused.has('Host'));
    if (reads.length === 1) columns.inserting([batchOf({ host: 'h' })]);
    return reads.length;
  });
  assert.deepEqual([rows, reads], [2, [true, false]]);
});
