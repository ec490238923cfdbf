/** Logs as samples within the limits of the service, and their differences. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Log } from '../../api/models.ts';
import { changedSamples, toSamples } from './samples.ts';

function log(fields: Partial<Log>): Log {
  const columns = { severity: '', host: '', serviceName: '', serviceNamespace: '' };
  const ids = { traceId: '', spanId: '' };
  return { message: 'm', ...columns, ...ids, labels: {}, ...fields } as Log;
}

test('names fields as steps do, without empty ones', () => {
  const labels = { user: 'ann', message: 'hidden by the column', empty: '' };
  assert.deepEqual(toSamples([log({ serviceName: 'shop', labels })]), [
    { message: 'm', service_name: 'shop', user: 'ann' },
  ]);
});

test('stays within what the service takes', () => {
  const many = Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`label ${n}`, 'x']));
  const [first, second] = toSamples([
    log({ labels: many }),
    log({ message: 'x'.repeat(20_000), labels: { ['n'.repeat(201)]: 'x' } }),
  ]);
  assert.equal(Object.keys(first!).length, 256);
  assert.deepEqual(second, { message: 'x'.repeat(16_384) });
  const large = toSamples(Array.from({ length: 30 }, () => log({ message: 'x'.repeat(16_384) })));
  assert.equal(large.length, 18);
});

test('tells what is dropped, changed and marked, and leaves out the rest', () => {
  const samples = [
    { message: 'dropped' },
    { message: 'the same' },
    { message: 'a', old: '1' },
    { message: 'plain' },
  ];
  const changed = changedSamples(samples, [
    { changes: ['dropped by the transform'] },
    { after: { message: 'the same' }, changes: [] },
    { after: { message: 'a', new: '1' }, changes: [] },
    { after: { message: 'plain' }, changes: ['message not parsed'] },
  ]);
  assert.deepEqual(
    changed.map(({ message, isDropped, changes, differences }) => [
      message,
      isDropped,
      changes.join(),
      differences.map(({ field, before, after }) => [field, before, after]),
    ]),
    [
      ['dropped', true, 'dropped by the transform', []],
      [
        'a',
        false,
        '',
        [
          ['old', '1', undefined],
          ['new', undefined, '1'],
        ],
      ],
      ['plain', false, 'message not parsed', []],
    ],
  );
});
