/** Spans of a trace from its logs. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { formatDuration, toSpans, tracePath } from './trace.ts';

const start = 1_790_000_000_000_000_000n;
const log = (serviceName: string, spanId: string, ms: number, severityNumber = 9) => ({
  logId: '',
  serviceName,
  spanId,
  timestampNanos: String(start + BigInt(ms * 1e6)),
  severityNumber,
});

test('groups logs by service and span, in order of their first log', () => {
  const spans = toSpans([
    log('payment', 'c', 40),
    log('edge', 'a', 0),
    log('payment', 'c', 5000, 17),
    log('checkout', 'b', 2),
    log('checkout', 'b', 5010, 21),
    log('edge', 'a', 5012),
    log('audit', 'a', 2),
  ]);
  assert.deepEqual(
    spans.map(({ service, fromMs, untilMs, logs, errors }) => [
      service,
      Math.round(fromMs),
      Math.round(untilMs),
      logs,
      errors,
    ]),
    [
      ['edge', 0, 5012, 2, 0],
      ['checkout', 2, 5010, 2, 1],
      ['audit', 2, 2, 1, 0],
      ['payment', 40, 5000, 2, 1],
    ],
  );
  assert.deepEqual(toSpans([]), []);
});

test('formats durations', () => {
  const cases: [number, string][] = [
    [0, '0 µs'],
    [0.34, '340 µs'],
    [12.54, '12.5 ms'],
    [5040, '5.04 s'],
    [119_700, '2 min 0 s'],
    [200_000, '3 min 20 s'],
  ];
  for (const [ms, text] of cases) assert.equal(formatDuration(ms), text);
});

test('links ids of traces only', () => {
  assert.equal(tracePath('0AF7651916CD43DD8448EB211C80319C')?.slice(-4), '319c');
  for (const text of ['', 'abc', '/x', '0af7651916cd43dd8448eb211c80319c0']) {
    assert.equal(tracePath(text), undefined);
  }
});
