/** Notifications of many alerts, and of notifiers that fail. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Alert, GroupState, Notifier, SentAlert } from '../model/rules.ts';
import { createNotify } from './notify.ts';

const notifier: Notifier = {
  notifierId: 'n1',
  accountId: 'account',
  name: 'manager',
  kind: 'alertmanager',
  url: 'https://alertmanager.example.com',
  secret: '',
  createdAt: '2026-01-01T00:00:00.000Z',
};

const alerts = Array.from(
  { length: 250 },
  (_, i): Alert => ({
    state: 'firing',
    labels: { alertname: 'Down', job: `${i}` },
    annotations: {},
    value: '0e+00',
    activeAtMs: 0,
    firedAtMs: 0,
  }),
);
const state: GroupState = {
  evaluatedAtMs: 0,
  seconds: 0,
  failures: [],
  rules: { down: { health: 'ok', lastError: '', evaluatedAtMs: 0, seconds: 0, alerts } },
};
const group = { name: 'group', intervalMs: 120_000, queryOffsetMs: 0, limit: 0, rules: [] };
const stored = { accountId: 'account', streamId: 'stream', group, state, updatedAt: '' };

/** @param isRefused of a request, by its ordinal. @returns the alerts that each got, per request */
function notifyWith(isRefused: (call: number) => boolean) {
  const requests: { host: string; jobs: string[] }[] = [];
  let calls = 0;
  const notify = createNotify({
    notifiers: {
      listNotifiers: async () => [
        notifier,
        { ...notifier, notifierId: 'n2', url: 'https://other.example.com' },
      ],
    },
    post: async (url, { body }) => {
      if (isRefused(calls++)) throw new Error('cannot notify: it answered 400');
      const list = JSON.parse(body) as { labels: { job: string } }[];
      requests.push({ host: new URL(url).hostname, jobs: list.map(({ labels }) => labels.job) });
    },
    sampleLogs: async () => [],
    events: { notified: () => {}, notifyFailed: () => {} },
    now: () => 0,
    externalUrl: () => 'https://localhost',
  });
  return { notify, requests };
}

suite('notifications', () => {
  test('reach each notifier with every alert, in requests of at most 100', async () => {
    const { notify, requests } = notifyWith(() => false);
    const sent = new Map<string, SentAlert>();
    await notify(stored, sent, new AbortController().signal);
    for (const host of ['alertmanager.example.com', 'other.example.com']) {
      const lists = requests.filter((one) => one.host === host).map(({ jobs }) => jobs);
      assert.deepEqual(
        lists.map(({ length }) => length),
        [100, 100, 50],
      );
      assert.equal(new Set(lists.flat()).size, alerts.length);
    }
    assert.equal(sent.size, 2 * alerts.length);
  });

  test('of other alerts continue after a refused request', async () => {
    const { notify, requests } = notifyWith((call) => call === 0);
    const sent = new Map<string, SentAlert>();
    await notify(stored, sent, new AbortController().signal);
    assert.equal(sent.size, 2 * alerts.length - 100);
    const told = requests.flatMap(({ jobs }) => jobs);
    assert.equal(told.length, sent.size);
    await notify(stored, sent, new AbortController().signal);
    assert.equal(sent.size, 2 * alerts.length, 'the refused ones are sent next time');
  });
});
