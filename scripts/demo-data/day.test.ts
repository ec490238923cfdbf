/** The demo day: repeatable, within its hours, with one incident. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { createDay, incident } from './day.ts';
import { expositionsOf } from './exposition.ts';

const untilMs = Date.parse('2026-04-02T12:00:00Z');
const options = { seed: 7, untilMs, hours: 24, requests: 500 };
const day = createDay(options);

test('a seed creates the same day, at other times', () => {
  const hourLater = createDay({ ...options, untilMs: untilMs + 3_600_000 });
  const withoutTimes = ({ logs }: typeof day) => logs.map(({ timestamp: _, ...rest }) => rest);
  assert.deepEqual(withoutTimes(hourLater), withoutTimes(day));
  assert.notDeepEqual(withoutTimes(createDay({ ...options, seed: 8 })), withoutTimes(day));
});

test('logs are sorted and within the day', () => {
  const times = day.logs.map(({ timestamp }) => Date.parse(timestamp));
  assert.deepEqual(
    times,
    times.toSorted((a, b) => a - b),
  );
  assert.ok(times[0]! >= untilMs - 24 * 3_600_000 && times.at(-1)! < untilMs);
});

test('stack traces belong to one customer, one version and one pod', () => {
  const failed = day.logs.filter(({ message }) => message.includes('GatewayTimeoutException'));
  assert.ok(failed.length > 20);
  const values = (key: string) => [...new Set(failed.map(({ labels }) => labels[key]))];
  assert.deepEqual(values('customer.id'), [incident.customer]);
  assert.deepEqual(values('version'), [incident.version]);
  assert.equal(values('k8s.pod.name').length, 1);
  const others = day.logs.filter(({ labels }) => labels['customer.id'] === incident.customer);
  assert.ok(
    others.some(({ message }) => message.includes('confirmed')),
    'other pods work',
  );
});

test('the counters end with the number of calls', () => {
  const texts = [...expositionsOf(day.calls, { fromMs: untilMs - 24 * 3_600_000, untilMs })];
  const checkouts = day.calls.filter(({ service }) => service === 'checkout');
  const last = texts.at(-1)!;
  const counted = (code: string) => {
    const line = new RegExp(`^http_requests_total\\{service="checkout",code="${code}"\\} (\\d+)`);
    return Number(
      last
        .split('\n')
        .findLast((one) => line.test(one))!
        .match(line)![1],
    );
  };
  const late = checkouts.filter(({ atMs }) => atMs > untilMs - 60_000).length;
  assert.equal(counted('200') + counted('502') + late, checkouts.length);
  assert.ok(counted('502') > 20);
});
