/**
 * Tells the notifiers of an account about alerts that began, ended or are due again. A notifier
 * gets each until it acknowledges it.
 */
import { createHash, createHmac } from 'node:crypto';
import type { NotifierStore } from '../directory/port.ts';
import {
  type Alert,
  type Deliveries,
  type GroupState,
  type LogsRuleQuery,
  type Notifier,
  ruleKeys,
  type SentAlert,
  type StoredRuleGroup,
} from '../model/rules.ts';
import { labelsKey } from '../rules/alerts.ts';
import { messageOf } from '../std/error-text.ts';
import type { AlertEvents } from '../telemetry/alert-events.ts';
import { createDeliveryNotes } from './delivery-notes.ts';
import type { GroupOwner } from './evaluate-group.ts';
import type { Post } from './post.ts';

export interface NotifyParts {
  readonly notifiers: Pick<NotifierStore, 'listNotifiers' | 'noteDeliveries'>;
  readonly post: Post;
  readonly sampleLogs: SampleLogs;
  readonly events: Pick<AlertEvents, 'notified' | 'notifyFailed'>;
  /** Unix ms. */
  readonly now: () => number;
  /** Of the explorer, without a trailing slash. */
  readonly externalUrl: () => string;
}

export interface SampleLog {
  readonly logId: string;
  readonly timestamp: string;
  readonly message: string;
}

/** The newest logs of an alert. @throws AppError */
export type SampleLogs = (
  owner: GroupOwner,
  query: LogsRuleQuery,
  alert: Alert,
  atMs: number,
) => Promise<readonly SampleLog[]>;

type Evaluated = StoredRuleGroup & { readonly state: GroupState };

/** @param sent what was acknowledged, by `sentKey`; changed by the function. */
export type NotifyOfGroup = (
  stored: Evaluated,
  sent: Map<string, SentAlert>,
  signal: AbortSignal,
) => Promise<void>;

const repeatMs: Readonly<Record<Notifier['kind'], number>> = {
  // Alertmanager takes an alert as resolved after its `endsAt`.
  alertmanager: 60_000,
  webhook: 4 * 3_600_000,
};
/** Of one request. */
const maxAlerts = 100;
const maxReasonLength = 500;

interface ReportedAlert {
  readonly alert: Alert;
  readonly query: LogsRuleQuery | undefined;
}

export function createNotify(parts: NotifyParts): NotifyOfGroup {
  const { notifiers, post, events, now } = parts;
  const note = createDeliveryNotes({
    noteDeliveries: (...noted) => notifiers.noteDeliveries(...noted),
    failed: (notifierId, error) => events.notifyFailed('directory', notifierId, error),
  });
  return async (stored, sent, signal) => {
    const alerts = alertsOf(stored);
    try {
      const known = await notifiers.listNotifiers(stored.accountId);
      forget(sent, known, alerts);
      await Promise.all(known.map((notifier) => tell(notifier, { stored, alerts, sent, signal })));
    } catch (error) {
      if (!signal.aborted) events.notifyFailed('directory', '', error);
    }
  };

  async function tell(
    notifier: Notifier,
    {
      stored,
      alerts,
      sent,
      signal,
    }: Parameters<typeof toMessage>[1] & {
      readonly sent: Map<string, SentAlert>;
      readonly signal: AbortSignal;
    },
  ): Promise<void> {
    const { kind, notifierId } = notifier;
    const due = alerts.filter(({ alert }) =>
      isDue(alert, sent.get(sentKey(notifier, alert)), { kind, nowMs: now() }),
    );
    let deliveries: Deliveries = {};
    for (let at = 0; at < due.length && !signal.aborted; at += maxAlerts) {
      const part = due.slice(at, at + maxAlerts);
      try {
        const { url, body } = await toMessage(notifier, { stored, alerts: part }, parts);
        await post(url, { body, headers: signatureOf(notifier, body, now()) }, signal);
        events.notified(kind);
        deliveries = { ...deliveries, lastSuccessAt: toIso(now()) };
        for (const { alert } of part) {
          const state = alert.state === 'inactive' ? 'inactive' : 'firing';
          const { activeAtMs } = alert;
          sent.set(sentKey(notifier, alert), { state, activeAtMs, atMs: now() });
        }
      } catch (error) {
        if (signal.aborted) break;
        events.notifyFailed(kind, notifierId, error);
        const lastFailure = messageOf(error).slice(0, maxReasonLength);
        deliveries = { ...deliveries, lastFailureAt: toIso(now()), lastFailure };
      }
    }
    if (Object.keys(deliveries).length === 0) return;
    await note(notifierId, deliveries);
  }
}

function alertsOf({ group, state }: Evaluated): ReportedAlert[] {
  const keys = ruleKeys(group.rules);
  const reported = Object.entries(state.rules).flatMap(([key, { alerts }]) => {
    const query = group.rules[keys.indexOf(key)]?.query;
    return alerts.map((alert) => ({ alert, query: query?.type === 'logs' ? query : undefined }));
  });
  const all = [...reported, ...state.failures.map((alert) => ({ alert, query: undefined }))];
  const firing = new Set(
    all.flatMap(({ alert }) => (alert.state === 'firing' ? [labelsKey(alert.labels)] : [])),
  );
  // A changed rule may raise what its earlier form resolved: a receiver knows both as one alert.
  return all.filter(
    ({ alert }) => alert.state !== 'inactive' || !firing.has(labelsKey(alert.labels)),
  );
}

function sentKey({ notifierId }: Notifier, { labels }: Alert): string {
  return `${notifierId} ${labelsKey(labels)}`;
}

function forget(
  sent: Map<string, SentAlert>,
  notifiers: readonly Notifier[],
  alerts: readonly ReportedAlert[],
): void {
  const keys = new Set(
    notifiers.flatMap((notifier) => alerts.map(({ alert }) => sentKey(notifier, alert))),
  );
  for (const key of sent.keys()) if (!keys.has(key)) sent.delete(key);
}

function isDue(
  alert: Alert,
  sent: SentAlert | undefined,
  { kind, nowMs }: { readonly kind: Notifier['kind']; readonly nowMs: number },
): boolean {
  if (alert.state === 'pending') return false;
  if (alert.state === 'inactive') return sent?.state === 'firing';
  const isNew = sent?.state !== 'firing' || sent.activeAtMs !== alert.activeAtMs;
  return isNew || nowMs - sent.atMs >= repeatMs[kind];
}

async function toMessage(
  notifier: Notifier,
  { stored, alerts }: { readonly stored: Evaluated; readonly alerts: readonly ReportedAlert[] },
  parts: NotifyParts,
): Promise<{ url: string; body: string }> {
  const { accountId, group, streamId } = stored;
  const explorer = parts.externalUrl();
  const endsMs = parts.now() + Math.max(4 * group.intervalMs, 4 * 60_000);
  if (notifier.kind === 'alertmanager') {
    const list = alerts.map(({ alert }) => ({
      ...toTimes(alert, toIso(endsMs)),
      labels: alert.labels,
      annotations: alert.annotations,
      generatorURL: historyUrl(explorer, accountId, alert),
    }));
    return { url: `${notifier.url.replace(/\/$/, '')}/api/v2/alerts`, body: JSON.stringify(list) };
  }
  const list = await Promise.all(
    alerts.map(async ({ alert, query }) => ({
      status: alert.state === 'inactive' ? 'resolved' : 'firing',
      labels: alert.labels,
      annotations: alert.annotations,
      ...toTimes(alert, '0001-01-01T00:00:00Z'),
      generatorURL: historyUrl(explorer, accountId, alert),
      fingerprint: createHash('sha256').update(labelsKey(alert.labels)).digest('hex').slice(0, 16),
      ...(query !== undefined &&
        alert.state === 'firing' && { sampleLogs: await samplesOf(stored, alert, query, parts) }),
    })),
  );
  const body = {
    version: '4',
    groupKey: `${streamId}/${group.name}`,
    truncatedAlerts: 0,
    status: list.some(({ status }) => status === 'firing') ? 'firing' : 'resolved',
    receiver: notifier.name,
    groupLabels: {},
    commonLabels: common(alerts.map(({ alert }) => alert.labels)),
    commonAnnotations: common(alerts.map(({ alert }) => alert.annotations)),
    externalURL: explorer,
    alerts: list,
  };
  return { url: notifier.url, body: JSON.stringify(body) };
}

function historyUrl(explorer: string, account: string, { labels }: Alert): string {
  const alert = labels['alertname'] ?? '';
  const shown = new URLSearchParams({ tab: 'history', alert, account });
  return `${explorer}/alerts?${shown.toString()}`;
}

function toIso(atMs: number): string {
  return new Date(atMs).toISOString();
}

function toTimes({ firedAtMs, activeAtMs, resolvedAtMs }: Alert, endsAt: string) {
  return {
    startsAt: toIso(firedAtMs ?? activeAtMs),
    endsAt: resolvedAtMs === undefined ? endsAt : toIso(resolvedAtMs),
  };
}

/** None where the read fails: the alert itself must arrive. */
async function samplesOf(
  stored: Evaluated,
  alert: Alert,
  query: LogsRuleQuery,
  { sampleLogs, now, externalUrl }: NotifyParts,
): Promise<object[]> {
  const { accountId: account } = stored;
  const atMs = now() - stored.group.queryOffsetMs;
  const logs = await sampleLogs(stored, query, alert, atMs).catch(() => []);
  return logs.map(({ logId, timestamp, message }) => ({
    timestamp,
    message: message.slice(0, 1_000),
    url: `${externalUrl()}/explore/logs?${new URLSearchParams({ log: logId, account }).toString()}`,
    apiUrl: `${externalUrl()}/api/v1/logs/${encodeURIComponent(logId)}`,
  }));
}

function common(maps: readonly Readonly<Record<string, string>>[]): Record<string, string> {
  const [first = {}, ...rest] = maps;
  const entries = Object.entries(first);
  return Object.fromEntries(
    entries.filter(([name, value]) => rest.every((other) => other[name] === value)),
  );
}

/** HMAC-SHA256 of the time and the body, so that a receiver can refuse old requests. */
function signatureOf({ secret }: Notifier, body: string, nowMs: number): Record<string, string> {
  if (secret === '') return {};
  const seconds = Math.floor(nowMs / 1000);
  const digest = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex');
  return { 'x-weir-signature': `t=${seconds},v1=${digest}` };
}
