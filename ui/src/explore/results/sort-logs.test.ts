/** Loaded logs by a column. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Log } from '../../api/models.ts';
import { sortLogs } from './sort-logs.ts';

const logsOf = (values: readonly string[]) =>
  values.map(
    (size) => ({ labels: size === '' ? {} : { size }, severityNumber: 9 }) as Partial<Log> as Log,
  );
const sorted = (values: readonly string[], isDescending = false) =>
  sortLogs(logsOf(values), { column: 'label.size', isDescending }).map(
    ({ labels }) => labels['size'] ?? '',
  );

test('sorts numbers by value, and logs without one last', () => {
  assert.deepEqual(sorted(['10', '', '9.5', '-1']), ['-1', '9.5', '10', '']);
  assert.deepEqual(sorted(['10', '', '9.5', '-1'], true), ['10', '9.5', '-1', '']);
});

test('sorts text in natural order', () => {
  assert.deepEqual(sorted(['node-10', 'node-9', 'Node-1']), ['Node-1', 'node-9', 'node-10']);
});

test('sorts severities by their number', () => {
  const logs = [17, 9, 13].map((severityNumber) => ({ severityNumber }) as Log);
  const numbers = sortLogs(logs, { column: 'severity', isDescending: true }).map(
    (log) => log.severityNumber,
  );
  assert.deepEqual(numbers, [17, 13, 9]);
});

test('keeps the order of time without a sort, and among equals', () => {
  const logs = logsOf(['1', '1', '1']);
  assert.equal(sortLogs(logs, undefined), logs);
  assert.deepEqual(sortLogs(logs, { column: 'label.size', isDescending: true }), logs);
});
