/** Notifications of many alerts, and of notifiers that fail. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Alert, Deliveries, GroupState, Notifier, SentAlert } from '../model/rules.ts';
import { createNotify, type NotifyParts } from './notify.ts';

const notifier: Notifier = {
  notifierId: 'n1',
  accountId: 'account',
  name: 'manager',
  kind: 'alertmanager',
  url: 'https://alertmanager.example.com',
  secret: '',
  createdAt: '2026-01-01T00:00:00.000Z',
  lastSuccessAt: null,
  lastFailureAt: null,
  lastFailure: null,
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

const refusal = 'cannot notify: it answered 400';

/** @param isRefused of a request, by its ordinal. @returns the alerts that each got, per request */
function notifyWith(
  isRefused: (call: number) => boolean,
  faults: Partial<NotifyParts['notifiers'] & NotifyParts['events']> = {},
) {
  const requests: { host: string; jobs: string[]; links: string[] }[] = [];
  const deliveries = new Map<string, Deliveries>();
  let calls = 0;
  const notify = createNotify({
    notifiers: {
      listNotifiers: async () => [
        notifier,
        { ...notifier, notifierId: 'n2', url: 'https://other.example.com' },
      ],
      noteDeliveries: async (notifierId, noted) => void deliveries.set(notifierId, noted),
      ...faults,
    },
    post: async (url, { body }) => {
      if (isRefused(calls++)) throw new Error(refusal);
      const list = JSON.parse(body) as { labels: { job: string }; generatorURL: string }[];
      requests.push({
        host: new URL(url).hostname,
        jobs: list.map(({ labels }) => labels.job),
        links: list.map(({ generatorURL }) => generatorURL),
      });
    },
    sampleLogs: async () => [],
    events: { notified: () => {}, notifyFailed: () => {}, ...faults },
    now: () => 0,
    externalUrl: () => 'https://localhost',
  });
  return { notify, requests, deliveries };
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

  test('lead to the history of the alert in its account', async () => {
    const { notify, requests } = notifyWith(() => false);
    await notify(stored, new Map(), new AbortController().signal);
    const links = new Set(requests.flatMap((one) => one.links));
    assert.deepEqual(
      [...links],
      ['https://localhost/alerts?tab=history&alert=Down&account=account'],
    );
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

  test('note the last success and failure of each notifier, once in an evaluation', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { notify, deliveries } = notifyWith((call) => call === 0);
    const { signal } = new AbortController();
    const sent = new Map<string, SentAlert>();
    await notify(stored, sent, signal);
    const at = '1970-01-01T00:00:00.000Z';
    const failed = { lastFailureAt: at, lastFailure: refusal };
    assert.deepEqual(Object.fromEntries(deliveries), {
      n1: { lastSuccessAt: at, ...failed },
      n2: { lastSuccessAt: at },
    });
    deliveries.clear();
    await notify(stored, sent, signal);
    t.mock.timers.tick(5_000);
    assert.deepEqual(Object.fromEntries(deliveries), { n1: { lastSuccessAt: at } });
    deliveries.clear();
    await notify(stored, sent, signal);
    t.mock.timers.tick(5_000);
    assert.equal(deliveries.size, 0, 'nothing is due');
  });

  test('say nothing of the end of an alert that another rule raises', async () => {
    const { notify, requests } = notifyWith(() => false);
    const [firing] = alerts;
    const ended: Alert = { ...firing!, state: 'inactive', resolvedAtMs: 0 };
    const again: Alert = { ...firing!, activeAtMs: 1 };
    const { signal } = new AbortController();
    const sent = new Map<string, SentAlert>();
    const evaluated = { health: 'ok', lastError: '', evaluatedAtMs: 0, seconds: 0 } as const;
    const withRules = (...lists: Alert[][]) => {
      const rules = lists.map((list, i) => [`${i}`, { ...evaluated, alerts: list }] as const);
      return { ...stored, state: { ...state, rules: Object.fromEntries(rules) } };
    };
    await notify(withRules([firing!]), sent, signal);
    for (let i = 0; i < 3; i++) await notify(withRules([again], [ended]), sent, signal);
    assert.equal(requests.length, 4, 'two requests to each notifier, both firing');
    await notify(withRules([], [ended]), sent, signal);
    assert.equal(requests.length, 6, 'and that it ended');
  });

  test('are not delayed by a directory that cannot note them', async () => {
    const faults: string[] = [];
    const { notify } = notifyWith(() => false, {
      noteDeliveries: async () => {
        throw new Error('gone');
      },
      notifyFailed: (kind, notifierId) => faults.push(`${kind} ${notifierId}`),
    });
    const sent = new Map<string, SentAlert>();
    await notify(stored, sent, new AbortController().signal);
    assert.equal(sent.size, 2 * alerts.length);
    assert.deepEqual(faults, ['directory n1', 'directory n2']);
  });
});
